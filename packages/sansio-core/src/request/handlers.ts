/** Requests come in, are joined or refused, cancelled, and leave with their acknowledged reply. A flow is a request too. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, Invariant, reject } from "../kernel/error.ts";
import { type EventOf, type SignalOf, type State, requestBatch } from "../kernel/vocabulary.ts";
import { type Replies, type RequestRow, conflictOfIds, ownExecutionScope, repliesOf } from "./model.ts";
import type { TurnEnd } from "../turn/model.ts";
import { problemOfDeleted } from "../scope/concern.ts";

type Submitted = EventOf<"request.submitted" | "flow.submitted" | "turn.submitted">;

/** Why a request may not be submitted under this id, if so. */
export const problemOfId = (draft: Draft, { request, hash }: Submitted): Rejection | undefined => {
  if (request.trim() === "") return reject("empty_id", "a request needs an id that is not blank");
  const live = draft.request(request);
  if (live === undefined) return problemOfDeleted(draft);
  return live.hash === hash
    ? reject("request_exists", `request \`${request}\` is live: join it`)
    : reject(
        "request_conflict",
        `request \`${request}\` is live under another body: expected ${live.hash}, found ${hash}`,
      );
};

export const begin = (draft: Draft, event: Submitted): void => {
  const { request, hash, execution_scope } = event;
  const executionScope = execution_scope ?? ownExecutionScope(draft.scope.id, request);
  const row = { request, hash, born: draft.seq, executionScope, phase: "running", waits: [] } as const;
  const priority = event.type === "request.submitted" ? (event.priority ?? 0) : 0;
  draft.putRequest(priority === 0 ? row : { ...row, priority });
};

export const onSubmitted = (draft: Draft, event: EventOf<"request.submitted">): Rejection | undefined => {
  const problem = problemOfId(draft, event);
  if (problem !== undefined) return problem;
  const { request, calls } = event;
  const conflict = conflictOfIds(calls);
  if (conflict !== undefined) return reject("call_id_conflict", conflict);
  begin(draft, event);
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
  return undefined;
};

export const onAcked = (draft: Draft, { request }: EventOf<"reply.acked">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "replying") return reject("no_reply_waits", `request \`${request}\` is still running`);
  draft.dropRequest(request);
  return undefined;
};

/** Returns whether a live request is a turn: the one that runs, or one that waits. */
export const isTurn = ({ conversation: { running, waiting } }: State, request: string): boolean =>
  running?.request === request || waiting.some((turn) => turn.request === request);

export const onCancelled = (draft: Draft, { request }: EventOf<"request.cancelled">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "running") {
    if (row.turn !== undefined) return undefined;
    return reject("call_ended", `request \`${request}\` has its reply: finish won over cancel`);
  }
  if (isTurn(draft.state, request)) draft.raise({ type: "turn.cancel", request });
  else if (draft.flow(request) !== undefined) draft.raise({ type: "flow.cancel", request });
  else draft.raise({ type: "batches.cancel", batches: [requestBatch(request)] });
  return undefined;
};

const isOfProcess = ({ process: row }: Draft, request: string): boolean =>
  row?.run === "call" && row.registration.id === request;

/** A body's batch stays until its replies are on record; a request's or a step's leaves them to who waits for it. */
export const onBatchEnded = (draft: Draft, { batch }: SignalOf<"batch.ended">): void => {
  const row = draft.batch(batch);
  if (row === undefined) return; // Dropped by this event, with its body.
  if (row.turn === true) return draft.raise({ type: "turn.called", batch, request: row.request });
  const { triggers, step } = row;
  const replies = repliesOf((ref) => draft.call(ref), row);
  if (row.parent !== undefined) {
    draft.emit({ type: "replies.record", call: row.parent.call, key: row.parent.effect, replies, triggers });
    return;
  }
  draft.dropCalls(row.calls);
  draft.dropBatch(batch);
  if (step === undefined) return onRequestOver(draft, row.request, { replies, triggers });
  for (const { output } of replies)
    draft.defer({ type: "step.ended", request: row.request, id: step, output, triggers });
};

const running = (draft: Draft, request: string): Extract<RequestRow, { readonly phase: "running" }> => {
  const row = draft.request(request);
  if (row?.phase !== "running") throw new Invariant(`request ${request} is not running`);
  return row;
};

const onRequestOver = (draft: Draft, id: string, { replies, triggers }: Replies): void => {
  const { request, hash, born, executionScope, waits } = running(draft, id);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  if (isOfProcess(draft, request)) {
    draft.dropRequest(request);
    return draft.raise({ type: "run.ended", replies });
  }
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies, triggers });
  draft.emit({ type: "reply", request, replies, triggers });
};

/** Opens the request that a process runs: nobody submitted it, and its reply is the process's end. */
export const onRequestOpen = (draft: Draft, signal: SignalOf<"request.open">): void => {
  const { request, hash, executionScope, calls } = signal;
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
};

/** A turn's reply says how it ended; its calls were shown one by one. */
export const replyTurn = (draft: Draft, turn: TurnEnd, triggers: Replies["triggers"]): void => {
  const { turn: request } = turn;
  const { hash, born, executionScope, waits } = running(draft, request);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies: [], triggers, turn });
  draft.emit({ type: "reply", request, replies: [], triggers, turn });
};

/** A flow's reply says how it ended; its steps were shown one by one. */
export const onFlowEnded = (draft: Draft, signal: SignalOf<"flow.ended">): void => {
  const { end: flow, triggers } = signal;
  const { request, hash, born, executionScope, waits } = running(draft, signal.request);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies: [], triggers, flow });
  draft.emit({ type: "reply", request, replies: [], triggers, flow });
};
