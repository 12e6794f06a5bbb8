/** Answers questions of clients, and lists the right that each one takes. */
import type { About, Replies, RequestPage, Runtime, Session } from "@pawl/runtime";
import { Refused } from "@pawl/runtime";
import type { ClientFrame, HostFrame, Question, QuestionType } from "../frame/index.ts";
import type { Right } from "./token.ts";
import { answerTurn, pendingIn, subAgentOf } from "./turn.ts";

/** Lists the right that each question takes. */
export const rights: { readonly [T in QuestionType]: Right } = {
  open: "observe",
  call: "call",
  replies: "call",
  acknowledge: "call",
  status: "observe",
  requests: "observe",
  store_get: "observe",
  store_set: "call",
  about: "observe",
  describe: "call",
  set_availability: "call",
  cancel_request: "call",
  cancel_call: "call",
  resolve: "resolve",
  resolve_by_id: "resolve",
  approve: "approve",
  reject: "approve",
  approvals: "observe",
  awaiting_approval: "observe",
  signal: "call",
  observe: "observe",
  watch: "observe",
  stream: "observe",
  turn: "call",
  read_turn: "observe",
  budget: "observe",
  decide_budget: "approve",
  prompt: "observe",
  compact: "call",
  move: "move",
  settle: "execute",
  move_part: "move",
  decline_move: "move",
};

const sessionPrefix = "session:";

const processPrefix = "process:";

const wrongScopeForm = (prefix: string, scope: string): Refused =>
  new Refused("scope_unknown", `expected a scope of the form ${prefix}<id>, found ${JSON.stringify(scope)}`);

/** Refuses a question about a scope that there is not. */
export const refuseUnknown = async (runtime: Runtime, scope: string): Promise<void> => {
  if (!(await runtime.has(scope))) throw new Refused("scope_unknown", `there is no scope ${JSON.stringify(scope)}`);
};

/**
 * Opens the session that a question names. Only a call and a turn create one: any other question that comes to the wrong host would
 * leave an empty twin of the session there.
 */
export const sessionOf = async (runtime: Runtime, scope: string, asked: Question["type"]): Promise<Session> => {
  if (!scope.startsWith(sessionPrefix) || scope.length === sessionPrefix.length)
    throw wrongScopeForm(sessionPrefix, scope);
  if (asked !== "call" && asked !== "turn") await refuseUnknown(runtime, scope);
  return runtime.session(scope.slice(sessionPrefix.length));
};

/** Opens any existing scope, for watching. */
export const scopeOf = async (runtime: Runtime, scope: string): Promise<Session> => {
  if (!scope.startsWith(processPrefix)) return sessionOf(runtime, scope, "watch");
  await refuseUnknown(runtime, scope);
  return runtime.processes.scope(scope.slice(processPrefix.length));
};

/** Sends a signal to an existing process. */
export const signal = async (
  runtime: Runtime,
  { id, scope, name, payload, signal_id: signalId }: Of<"signal">,
): Promise<HostFrame> => {
  if (!scope.startsWith(processPrefix) || scope.length === processPrefix.length)
    throw wrongScopeForm(processPrefix, scope);
  await refuseUnknown(runtime, scope);
  await runtime.processes.signal(scope.slice(processPrefix.length), { name, payload, signalId });
  return { type: "done", id };
};

/** Maximum length of a page of scopes that await approval. */
const longestPage = 1000;

/** Lists the scopes that wait for approvals, a page of them. */
export const awaitingApproval = async (
  runtime: Runtime,
  { id, scope: prefix, after = "", limit = longestPage }: Of<"awaiting_approval">,
): Promise<HostFrame> => {
  const scopes = await runtime.awaitingApproval({ prefix, after, limit: Math.min(limit, longestPage) });
  return { type: "scopes_awaiting", id, scopes };
};

export type SessionQuestion = Exclude<
  Question,
  {
    readonly type:
      | "observe"
      | "watch"
      | "stream"
      | "read_turn"
      | "awaiting_approval"
      | "settle"
      | "signal"
      | "move"
      | "move_part"
      | "decline_move";
  }
>;
type Of<T extends ClientFrame["type"]> = Extract<ClientFrame, { readonly type: T }>;

const replied = (id: number, replies: Replies): HostFrame => {
  const { triggers } = replies;
  return { type: "replied", id, replies: [...replies], ...(triggers === undefined ? {} : { triggers }) };
};

const call = async (session: Session, frame: Of<"call">, { by, gone }: Requester): Promise<HostFrame> => {
  const { id, request, calls, execution_scope: executionScope, traceparent } = frame;
  const how = {
    by,
    ...(executionScope === undefined ? {} : { executionScope }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  return replied(id, await session.request(request, calls, { ...how, keep: true, signal: gone }));
};

const pageOf = ({ after, limit = longestPage }: Of<"requests">): RequestPage => ({
  limit: Math.min(limit, longestPage),
  ...(after === undefined ? {} : { after }),
});

type AboutQuestion = Of<"store_get" | "store_set" | "about" | "describe" | "set_availability">;

/** Answers what a session is asked about itself: its values, its title and tags, and which of its tools are available. */
const keep = async (session: Session, frame: AboutQuestion): Promise<HostFrame> => {
  const { id } = frame;
  switch (frame.type) {
    case "store_get": {
      const value = await session.store.get(frame.key);
      return { type: "value", id, ...(value === undefined ? {} : { value }) };
    }
    case "about":
      return { type: "described", id, ...session.about };
    case "store_set":
      await session.store.set(frame.key, frame.value);
      break;
    case "describe":
      await session.describe(aboutOf(frame));
      break;
    case "set_availability":
      await session.setAvailability(frame.tools, frame.availability ?? null);
  }
  return { type: "done", id };
};

const aboutOf = ({ title, tags }: Of<"describe">): Partial<About> => ({
  ...(title === undefined ? {} : { title }),
  ...(tags === undefined ? {} : { tags }),
});

const decided = ({ hash, sticky, again, decision_id: decisionId }: Of<"approve" | "reject">, by: string) => ({
  hash,
  by,
  ...(sticky === undefined ? {} : { sticky }),
  ...(again === undefined ? {} : { again }),
  ...(decisionId === undefined ? {} : { id: decisionId }),
});

const approve = (session: Session, frame: Of<"approve">, by: string): Promise<void> =>
  session.approve(frame.call, {
    ...decided(frame, by),
    ...(frame.args === undefined ? {} : { args: frame.args }),
  });

const reject = (session: Session, frame: Of<"reject">, by: string): Promise<void> =>
  session.reject(frame.call, { ...decided(frame, by), reason: frame.reason });

const resolve = async (session: Session, frame: Of<"resolve" | "resolve_by_id">, by: string): Promise<HostFrame> => {
  const { id, resolution, resolution_id: resolutionId } = frame;
  const outcome =
    frame.type === "resolve"
      ? await session.resolve(frame.token, resolution, by, resolutionId)
      : await session.resolveById(frame.key, resolution, by, resolutionId);
  return { type: "resolved", id, outcome };
};

/** The principal that asks, and a signal that aborts when it disconnects. */
export interface Requester {
  readonly by: string;
  readonly gone: AbortSignal;
}

/** Answers a question once the answer is durable. */
export const answer = async (session: Session, frame: SessionQuestion, { by, gone }: Requester): Promise<HostFrame> => {
  const { id } = frame;
  const done = { type: "done", id } as const;
  switch (frame.type) {
    case "open":
      return { type: "opened", id, seq: session.runner.durable.seq };
    case "call":
      return call(session, frame, { by, gone });
    case "replies":
      return replied(id, await session.replies(frame.request, { keep: true, signal: gone }));
    case "status":
      return { type: "requests_listed", id, requests: [await session.status(frame.request)] };
    case "requests":
      return { type: "requests_listed", id, requests: await session.requests(pageOf(frame)) };
    case "store_get":
    case "store_set":
    case "about":
    case "describe":
    case "set_availability":
      return keep(session, frame);
    case "turn":
    case "budget":
    case "decide_budget":
    case "compact":
    case "prompt":
      return answerTurn(session, frame, { by, gone });
    case "acknowledge":
      return session.acknowledge(frame.request).then(() => done);
    case "resolve":
    case "resolve_by_id":
      return resolve(session, frame, by);
    case "approve":
      return approve(await subAgentOf(session, frame), frame, by).then(() => done);
    case "reject":
      return reject(await subAgentOf(session, frame), frame, by).then(() => done);
    case "approvals":
      if (frame.deep === true) return pendingIn(session, id);
      return { type: "approvals_wanted", id, approvals: await session.approvals() };
    case "cancel_request":
      return session.cancel({ request: frame.request }, by, frame.again).then(() => done);
    case "cancel_call":
      return session.cancel({ call: frame.call }, by, frame.again).then(() => done);
  }
};
