/** Tasks: their rules, messages and wakes. Times are texts in cases and numbers in tasks. */
import type { Json, JsonObject } from "@pawl/tool-value";
import {
  type MessagePart,
  type NewTask,
  type Task,
  type TaskUpdate,
  type WakePolicy,
  afterMessage,
  applyTaskUpdate,
  createTask,
  listMessages,
  requestCancel,
  wakeOfMessage,
  wakeOfUpdate,
} from "@pawl/sansio-core/driver";
import { Refused } from "@pawl/runtime";
import { type Adapter, type Adapters, UnknownInput, knownName, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { ToolWorld } from "../session/world.ts";
import { type Result, failed, list, maybeText, number, object, text } from "./input.ts";

/** Numbers the times of a case by their position. */
class Clock {
  readonly #texts: string[] = [];

  at(time: Json | undefined): number {
    const known = this.#texts.indexOf(text(time));
    return known === -1 ? this.#texts.push(text(time)) - 1 : known;
  }
  text(at: number | undefined): string | null {
    return at === undefined ? null : (this.#texts[at] ?? null);
  }
}

const times = ["created_at", "started_at", "finished_at", "updated_at", "heartbeat_at", "cancel_requested_at"] as const;

const withTimes = (json: JsonObject, clock: Clock): JsonObject =>
  Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) => {
      if (value === null) return [];
      return [[key, times.some((time) => time === key) ? clock.at(value) : value]];
    }),
  );

/** The text for a time that the case does not name. */
const unnamed = -1;
const bare = createTask({ id: "task_1", kind: "k", display_name: "N", spec: null }, "s", unnamed);

export const taskIn = (json: JsonObject, clock = new Clock()): Task => {
  const links = { ...bare.links, ...object(json["links"]) };
  return { ...bare, ...withTimes(json, clock), links } as unknown as Task; // A case gives some fields of a task.
};

const shown = (task: Task, clock: Clock): object => ({
  ...task,
  ...Object.fromEntries(times.map((time) => [time, clock.text(task[time])])),
});

const update = ({ task, update: said, now }: JsonObject): Result => {
  const clock = new Clock();
  const change = withTimes(object(said), clock) as unknown as TaskUpdate;
  return E.right(shown(applyTaskUpdate(taskIn(object(task), clock), change, clock.at(now ?? "now")), clock));
};

/** Tasks of a session in a runtime. */
const sessions = () => {
  const { background } = new ToolWorld().begin().runtime;
  return (session: string) => background.of(session);
};

const created = async (tasks: readonly Json[], now: Json | undefined): Promise<Result> => {
  const of = sessions();
  let last: Task | undefined;
  for (const [n, json] of tasks.entries()) {
    const { session_id: session, ...said } = object(json);
    const made = { id: `task_${n}`, kind: "k", display_name: "N", spec: null, ...said } as unknown as NewTask; // A case gives some fields.
    last = await of(maybeText(session) ?? "s").create(made);
  }
  if (last === undefined) return failed("no task");
  const at = (time: (typeof times)[number]): Json => (last?.[time] === undefined ? null : (now ?? "now"));
  return E.right({ ...last, ...Object.fromEntries(times.map((time) => [time, at(time)])) });
};

const cancelled = ({ times: said, state }: JsonObject): Result => {
  const clock = new Clock();
  let task = taskIn({ state: state ?? "running" }, clock);
  for (const time of list(said)) task = requestCancel(task, clock.at(time));
  return E.right(shown(task, clock));
};

const parts = (json: Json | undefined): readonly MessagePart[] => list(json) as unknown as readonly MessagePart[];

/** Sends a message to a task at the given attempt; without a task, to none. */
const recorded = async ({ task, record_message: said }: JsonObject): Promise<Result> => {
  const work = sessions()("s");
  const { id = "task_1", attempt = 1 } = object(task);
  if (task !== null) await work.create({ id: text(id), kind: "k", display_name: "N", spec: null });
  for (let n = 1; n < number(attempt); n++) await work.update(text(id), { increment_attempt: true });
  const { expected_attempt: expected } = object(said);
  const message = { id: "tmsg_1", task_id: text(id), direction: "outbound", content: [] } as const;
  try {
    await work.message(message, typeof expected === "number" ? expected : undefined);
  } catch (error) {
    if (error instanceof Refused) return failed(error.message);
    throw error;
  }
  return E.right({ recorded: (await work.messages(text(id))).length });
};

const answered = ({ pending, inbound_reply_to: reply }: JsonObject): Result => {
  const task = taskIn({ state: "awaiting_input", input_request: { id: text(pending), prompt: "p" } });
  const message = { id: "m", task_id: task.id, direction: "inbound", content: [], in_reply_to: text(reply) } as const;
  return E.right(afterMessage(task, message, 1));
};

const wokenBy = (before: Task, said: JsonObject): Result => {
  const asked = said as unknown as TaskUpdate;
  return E.right({ wake: wakeOfUpdate(before, applyTaskUpdate(before, asked, 1), asked) ?? null });
};

const states = ["queued", "running", "awaiting_input", "succeeded", "failed", "canceled"] as const;

const woken = (input: JsonObject): Result => {
  const { wake_policy, task: json, into, prompt: asks, outbound, content } = input;
  const policy: WakePolicy = knownName("word", wake_policy, ["silent", "on_terminal", "on_activity"]);
  const after = { ...taskIn(object(json)), wake_policy: policy };
  if (outbound !== undefined) {
    const message = { task_id: after.id, direction: "outbound", content: parts(outbound ?? content) } as const;
    return E.right({ wake: wakeOfMessage(after, message) ?? null });
  }
  if (input["update"] !== undefined) return wokenBy(after, object(input["update"]));
  const before: Task = { ...after, state: "running" };
  const prompt = after.input_request?.prompt ?? maybeText(asks) ?? "p";
  const asked: TaskUpdate =
    into === "awaiting_input" || after.state === "awaiting_input"
      ? { input_request: after.input_request ?? { id: "r", prompt } }
      : { state: into === undefined ? after.state : knownName("word", into, states) };
  return wokenBy(before, asked as unknown as JsonObject);
};

const listed = (input: JsonObject): Result => {
  const { messages, limit, after_id: after } = input;
  const kept = list(messages).map((id) => ({ id: text(id) }));
  const asked = {
    ...(typeof limit === "number" ? { limit } : {}),
    ...(typeof after === "string" ? { after } : {}),
  };
  return E.right(listMessages(kept, asked).map(({ id }) => id));
};

/** The questions to a registry of tasks, by the field that identifies each. */
const registryOps: Adapters = {
  create: withFields(["create", "now"], (input) => created(list(input["create"]), input["now"])),
  cancel_twice: withFields(["cancel_twice", "state", "times"], cancelled),
  record_message: withFields(["record_message", "task"], recorded),
  pending: withFields(["pending", "inbound_reply_to"], answered),
  wake_policy: withFields(["wake_policy", "task", "into", "prompt", "outbound", "content", "update"], woken),
  messages: withFields(["messages", "limit", "after_id"], listed),
};

const registry = (input: JsonObject): ReturnType<Adapter> => {
  const op = Object.keys(registryOps).find((known) => input[known] !== undefined);
  if (op === undefined) throw new UnknownInput("op", Object.keys(input).join(" "), Object.keys(registryOps));
  return (registryOps[op] as Adapter)(input);
};

export const taskAdapters: Adapters = {
  "tools.apply_task_update": withFields(["task", "update", "now"], update),
  "tools.task_registry": registry,
};
