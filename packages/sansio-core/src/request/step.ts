/** Requests come in, are joined or refused, and leave with their acknowledged reply. */
import { withNested } from "../batch/nested.ts";
import type { Draft } from "../draft.ts";
import { Invariant, type Rejection, absurd, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { misfitOfDeleted } from "../handle/deletion.ts";
import { requestBatch } from "../ids.ts";
import type { Signal } from "../signal.ts";
import { type RequestEvent, conflictOfIds, ownExecutionScope } from "./model.ts";
import { repliesOf } from "./replies.ts";

const onSubmitted = (draft: Draft, event: EventOf<"request.submitted">): Rejection | undefined => {
  const { request, hash, calls } = event;
  if (request.trim() === "") return reject("empty_id", "a request needs an id that is not blank");
  const live = draft.request(request);
  if (live !== undefined) {
    return live.hash === hash
      ? reject("request_exists", `request \`${request}\` is live: join it`)
      : reject(
          "request_conflict",
          `request \`${request}\` is live under another body: expected ${live.hash}, found ${hash}`,
        );
  }
  const deleted = misfitOfDeleted(draft);
  if (deleted !== undefined) return deleted;
  const conflict = conflictOfIds(calls);
  if (conflict !== undefined) return reject("call_id_conflict", conflict);
  const executionScope = event.execution_scope ?? ownExecutionScope(draft.scope.id, request);
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
  return undefined;
};

const onCancelled = (draft: Draft, { request }: EventOf<"request.cancelled">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "running")
    return reject("call_ended", `request \`${request}\` has its reply: finish won over cancel`);
  draft.raise({ type: "batches.cancel", batches: withNested(draft, [requestBatch(request)]) });
  return undefined;
};

const onAcked = (draft: Draft, { request }: EventOf<"reply.acked">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "replying") return reject("no_reply_waits", `request \`${request}\` is still running`);
  draft.dropRequest(request);
  return undefined;
};

/** What a process runs is a request of its own: nobody submitted it, and its reply is the process's end. */
export const onRequestOpen = (draft: Draft, signal: Extract<Signal, { readonly type: "request.open" }>): void => {
  const { request, hash, executionScope, calls } = signal;
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
};

export const onRequestEvent = (draft: Draft, event: RequestEvent): Rejection | undefined => {
  switch (event.type) {
    case "request.submitted":
      return onSubmitted(draft, event);
    case "request.cancelled":
      return onCancelled(draft, event);
    case "reply.acked":
      return onAcked(draft, event);
    default:
      return absurd(event);
  }
};

const isOfProcess = ({ process: row }: Draft, request: string): boolean =>
  row?.run === "call" && row.registration.id === request;

/** A body's batch stays until its replies are on record; a request's leaves its replies to the request. */
export const onBatchEnded = (draft: Draft, { batch }: Extract<Signal, { readonly type: "batch.ended" }>): void => {
  const row = draft.batch(batch);
  if (row === undefined) return; // Dropped by this event, with its body.
  const { triggers } = row;
  const replies = repliesOf((ref) => draft.call(ref), row);
  if (row.parent !== undefined) {
    draft.emit({ type: "replies.record", call: row.parent.call, key: row.parent.effect, replies, triggers });
    return;
  }
  const request = draft.request(row.request);
  if (request?.phase !== "running") throw new Invariant(`request ${row.request} is not running`);
  for (const ref of row.calls) draft.dropCall(ref);
  draft.dropBatch(batch);
  const { hash, born, executionScope, waits } = request;
  if (waits.length > 0) draft.raise({ type: "waits.forget", request: row.request, keys: waits });
  if (isOfProcess(draft, row.request)) {
    draft.dropRequest(row.request);
    return draft.raise({ type: "run.ended", replies });
  }
  draft.putRequest({ request: row.request, hash, born, executionScope, phase: "replying", replies, triggers });
  draft.emit({ type: "reply", request: row.request, replies, triggers });
};
