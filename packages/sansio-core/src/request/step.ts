/** Requests come in, are joined or refused, and leave with their acknowledged reply. */
import type { Replies } from "../command.ts";
import type { Draft } from "../draft.ts";
import { Invariant, type Rejection, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { misfitOfDeleted } from "../handle/deleted.ts";
import { requestBatch } from "../ids.ts";
import type { Signal } from "../signal.ts";
import { type RequestRow, conflictOfIds, ownExecutionScope } from "./model.ts";
import { repliesOf } from "./replies.ts";

type Submitted = EventOf<"request.submitted" | "flow.submitted">;

/** Why a request may not be submitted under this id, if so. */
export const misfitOfId = (draft: Draft, { request, hash }: Submitted): Rejection | undefined => {
  if (request.trim() === "") return reject("empty_id", "a request needs an id that is not blank");
  const live = draft.request(request);
  if (live === undefined) return misfitOfDeleted(draft);
  return live.hash === hash
    ? reject("request_exists", `request \`${request}\` is live: join it`)
    : reject(
        "request_conflict",
        `request \`${request}\` is live under another body: expected ${live.hash}, found ${hash}`,
      );
};

export const begin = (draft: Draft, { request, hash, execution_scope }: Submitted): void => {
  const executionScope = execution_scope ?? ownExecutionScope(draft.scope.id, request);
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
};

const onSubmitted = (draft: Draft, event: EventOf<"request.submitted">): Rejection | undefined => {
  const misfit = misfitOfId(draft, event);
  if (misfit !== undefined) return misfit;
  const { request, calls } = event;
  const conflict = conflictOfIds(calls);
  if (conflict !== undefined) return reject("call_id_conflict", conflict);
  begin(draft, event);
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
  return undefined;
};

const onAcked = (draft: Draft, { request }: EventOf<"reply.acked">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "replying") return reject("no_reply_waits", `request \`${request}\` is still running`);
  draft.dropRequest(request);
  return undefined;
};

export const onRequestEvent = (
  draft: Draft,
  event: EventOf<"request.submitted" | "reply.acked">,
): Rejection | undefined => (event.type === "reply.acked" ? onAcked(draft, event) : onSubmitted(draft, event));

const isOfProcess = ({ process: row }: Draft, request: string): boolean =>
  row?.run === "call" && row.registration.id === request;

/** A body's batch stays until its replies are on record; a request's or a step's leaves them to who waits for it. */
export const onBatchEnded = (draft: Draft, { batch }: Extract<Signal, { readonly type: "batch.ended" }>): void => {
  const row = draft.batch(batch);
  if (row === undefined) return; // Dropped by this event, with its body.
  const { triggers, step } = row;
  const replies = repliesOf((ref) => draft.call(ref), row);
  if (row.parent !== undefined) {
    draft.emit({ type: "replies.record", call: row.parent.call, key: row.parent.effect, replies, triggers });
    return;
  }
  for (const ref of row.calls) draft.dropCall(ref);
  draft.dropBatch(batch);
  if (step === undefined) return onRequestOver(draft, row.request, { replies, triggers });
  for (const { output } of replies) draft.endStep({ request: row.request, id: step, output, triggers });
};

export const running = (draft: Draft, request: string): Extract<RequestRow, { readonly phase: "running" }> => {
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
