/** Requests that are flows, are cancelled, or are what a process runs. */
import { withNested } from "../batch/nested.ts";
import type { Draft } from "../draft.ts";
import { type Rejection, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { requestBatch } from "../ids.ts";
import { misfitOfProgram } from "../flow/program.ts";
import type { Signal } from "../signal.ts";
import { begin, misfitOfId, running } from "./step.ts";

/** A flow is a request that makes its calls one after the other. */
const onFlowSubmitted = (draft: Draft, event: EventOf<"flow.submitted">): Rejection | undefined => {
  const misfit = misfitOfId(draft, event);
  if (misfit !== undefined) return misfit;
  const refused = misfitOfProgram(event.flow);
  if (refused !== undefined) {
    return reject("flow_refused", `flow \`${event.flow.name}\`, ${refused.path}: ${refused.message}`);
  }
  const { request, bindings, flow, tools, lambdas, unresolved } = event;
  begin(draft, event);
  draft.raise({ type: "flow.start", request, bindings, flow, tools, lambdas, unresolved });
  return undefined;
};

const onCancelled = (draft: Draft, { request }: EventOf<"request.cancelled">): Rejection | undefined => {
  const row = draft.request(request);
  if (row === undefined) return reject("request_unknown", `no live request \`${request}\``);
  if (row.phase !== "running")
    return reject("call_ended", `request \`${request}\` has its reply: finish won over cancel`);
  if (draft.flow(request) !== undefined) draft.raise({ type: "flow.cancel", request });
  else draft.raise({ type: "batches.cancel", batches: withNested(draft, [requestBatch(request)]) });
  return undefined;
};

/** What a process runs is a request of its own: nobody submitted it, and its reply is the process's end. */
export const onRequestOpen = (draft: Draft, signal: Extract<Signal, { readonly type: "request.open" }>): void => {
  const { request, hash, executionScope, calls } = signal;
  draft.putRequest({ request, hash, born: draft.seq, executionScope, phase: "running", waits: [] });
  draft.raise({ type: "batch.create", ref: requestBatch(request), request, prefix: "", calls });
};

/** A flow's reply says how it ended; its steps were shown one by one. */
export const onFlowEnded = (draft: Draft, signal: Extract<Signal, { readonly type: "flow.ended" }>): void => {
  const { end: flow, triggers } = signal;
  const { request, hash, born, executionScope, waits } = running(draft, signal.request);
  if (waits.length > 0) draft.raise({ type: "waits.forget", request, keys: waits });
  draft.putRequest({ request, hash, born, executionScope, phase: "replying", replies: [], triggers, flow });
  draft.emit({ type: "reply", request, replies: [], triggers, flow });
};

export const onSeldomRequestEvent = (
  draft: Draft,
  event: EventOf<"flow.submitted" | "request.cancelled">,
): Rejection | undefined =>
  event.type === "flow.submitted" ? onFlowSubmitted(draft, event) : onCancelled(draft, event);
