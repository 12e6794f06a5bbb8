/**
 * A task is a request of a session, seen by a client. Nothing is stored for it: its status, what it waits for and its result
 * are read off the session, wherever it lives.
 *
 *   running, nothing to ask ─▶ working
 *   waits for an answer ─────▶ input_required   with the questions that this client may answer
 *   ended ───────────────────▶ completed | failed | cancelled
 *
 * A call whose outcome is unknown for good is completed with an error that says so. One that waits for a person's word on
 * its unknown outcome is working.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Session } from "@pawl/runtime";
import { type Status, requestStatus } from "@pawl/sansio-core/driver";
import { endedOf } from "./content.ts";
import { type Client, type RequestPlace, type ServerPort, contentPort, mayApprove, schemaOf } from "./port.ts";
import { canAnswer, questionsOf, requestsOf } from "./question.ts";
import { hasOutputSchema } from "./tool-list.ts";

interface TaskFields {
  readonly taskId: string;
  readonly status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: null;
  readonly pollIntervalMs: number;
}

/** The answer to a call that goes on as a task. */
export type TaskHandle = TaskFields & { readonly resultType: "task" };

/** A task with what its status brings along. */
export type TaskView = TaskFields & {
  readonly resultType: "complete";
  readonly inputRequests?: object;
  readonly result?: CallToolResult;
  readonly error?: { readonly code: number; readonly message: string };
};

const waitsWords: { readonly [word: string]: string } = {
  person: "waits for a person",
  outside: "waits for an event from outside",
  time: "waits for its time",
  executor: "waits for its executor",
};

const messageOf = ({ state, waitsFor }: Status): string | undefined =>
  state === "unknown"
    ? "its outcome is unknown: it waits for a person, or for another version of its tool"
    : waitsWords[waitsFor ?? ""];

/** Times of events that were looked up: they never change. */
export class EventTimes {
  readonly #times = new Map<string, number>();
  static readonly #most = 10_000;

  async of(session: Session, seq: number): Promise<number> {
    const key = `${session.state.scope.id}:${seq}`;
    const known = this.#times.get(key);
    if (known !== undefined) return known;
    for await (const { at } of session.follow(seq - 1, new AbortController().signal)) {
      if (this.#times.size >= EventTimes.#most) this.#times.clear();
      this.#times.set(key, at);
      return at;
    }
    return session.state.at;
  }
}

const times = new EventTimes();

const isoOf = (at: number): string => new Date(at).toISOString();

const fieldsOf = (
  { settings, tokens }: ServerPort,
  { caller }: Client,
  { session, request, tool }: RequestPlace,
  [createdAt, updatedAt]: readonly [number, number],
) => ({
  taskId: tokens.sign("task", caller.by, [session, request, tool]),
  createdAt: isoOf(createdAt),
  lastUpdatedAt: isoOf(updatedAt),
  ttlMs: null,
  pollIntervalMs: settings.pollMs,
});

/** Views a request that has not ended. */
const liveView = async (
  port: ServerPort,
  client: Client,
  place: RequestPlace,
  session: Session,
): Promise<TaskView | undefined> => {
  const { state } = session;
  const row = state.requests.at(place.request);
  if (row?.phase !== "running") return undefined;
  const status = requestStatus(state, row);
  const waits = mayApprove(client.caller, place.session);
  const all = waits ? await questionsOf(session, place.request, schemaOf(port.runtime)) : [];
  const questions = all.filter((one) => canAnswer(one, client.capabilities));
  const at = [await times.of(session, row.born), await times.of(session, status.since ?? row.born)] as const;
  const statusMessage = messageOf(status);
  return {
    resultType: "complete",
    ...fieldsOf(port, client, place, at),
    ...(questions.length === 0
      ? { status: "working" }
      : { status: "input_required", inputRequests: requestsOf(questions) }),
    ...(statusMessage === undefined ? {} : { statusMessage }),
  };
};

/** Views a request that has ended. */
const endedView = async (
  port: ServerPort,
  client: Client,
  place: RequestPlace,
  session: Session,
): Promise<TaskView> => {
  const [reply] = await session.replies(place.request, { keep: true });
  const { createdAt, updatedAt } = await session.status(place.request);
  if (reply === undefined) throw new Error(`request ${place.request} has no reply`);
  const fields = { resultType: "complete", ...fieldsOf(port, client, place, [createdAt, updatedAt]) } as const;
  const shown = port.runtime.registry.shown().find(({ name }) => name === place.tool);
  const isStructured = shown !== undefined && hasOutputSchema(shown, client.isModern);
  const ended = await endedOf(reply, contentPort(port, client.caller), isStructured);
  switch (ended.type) {
    case "result":
      return { ...fields, status: "completed", result: { resultType: "complete", ...ended.result } };
    case "cancelled":
      return { ...fields, status: "cancelled", statusMessage: ended.message };
    case "error":
      return { ...fields, status: "failed", error: { code: ended.code, message: ended.message } };
  }
};

/** Views a task for a client. What is told is durable. */
export const viewOf = async (port: ServerPort, client: Client, place: RequestPlace): Promise<TaskView> => {
  const session = await port.runtime.session(place.session);
  const live = await liveView(port, client, place, session);
  if (live === undefined) return endedView(port, client, place, session);
  await session.runner.whenDurable();
  return live;
};

/** Makes the handle of a call that goes on as a task. The caller has seen that the request is durable. */
export const handleOf = async (port: ServerPort, client: Client, place: RequestPlace): Promise<TaskHandle> => {
  const { inputRequests: _i, result: _r, error: _e, ...task } = await viewOf(port, client, place);
  return { ...task, resultType: "task" };
};
