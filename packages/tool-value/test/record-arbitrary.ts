/** Generates typed records for each codec of the wire format, with their fields in wire order. */
import * as fc from "fast-check";
import type * as v from "../src/index.ts";
import { attachmentRef, mediaType, normalJson, text, u32, u64, value } from "./arbitrary.ts";
import type { wire } from "./cases.ts";

const just = fc.constant;

const AttachmentCreateMeta = fc.record(
  { media_type: mediaType, width: u32, height: u32, label: text },
  { requiredKeys: ["media_type"] },
);
const Duration = fc.record({ secs: u64, nanos: u32 });
const PendingCompletion = fc.record(
  {
    deadline: Duration,
    on_timeout: fc.constantFrom("error_as_result", "fail_turn"),
    on_cancel: fc.constantFrom("ignore", "cancel_external_work"),
  },
  { requiredKeys: ["on_timeout", "on_cancel"] },
);

const failureClass = fc.constantFrom("invalid_request", "unavailable", "timeout", "execution", "external", "internal");
const source = fc.constantFrom("runtime", "tool", "plugin", "policy", "cancellation");
/** `null` counts as absent where a value may be absent. */
const raw = value.filter((v) => v !== null);
const rawJson = normalJson.filter((j) => j !== null);

const ToolRetryDisposition = fc.oneof(
  just({ type: "never" }),
  fc.record({ type: just("safe"), after_ms: u64 }, { requiredKeys: ["type"] }),
  fc.record({ type: just("exhausted"), attempts: u64 }),
);
const ToolFailure = fc.record(
  { class: failureClass, code: text, message: text, source, retry: ToolRetryDisposition, raw },
  { requiredKeys: ["class", "code", "message", "source", "retry"] },
);
const ToolCancellation = fc.record({ message: text, source, raw }, { requiredKeys: ["message", "source"] });
const nodes = fc.array(normalJson, { maxLength: 3 });
const ToolControl = fc.oneof(
  fc.record(
    { type: just("switch_agent_frame"), frame_id: text, initial_nodes: nodes, task: text },
    { requiredKeys: ["type", "frame_id", "initial_nodes"] },
  ),
  fc.record({ type: just("finish"), value }),
  fc.record({ type: just("fail"), failure: ToolFailure }),
);
const ToolCallOutcome = fc.oneof(
  fc.record({ status: just("success"), payload: value }),
  fc.record({ status: just("failure"), payload: ToolFailure }),
  fc.record({ status: just("cancelled"), payload: ToolCancellation }),
);
const ToolCallOutput = fc.record(
  { outcome: ToolCallOutcome, control: ToolControl },
  { requiredKeys: ["outcome"] },
) as fc.Arbitrary<v.ToolCallOutput>;
const ToolCallRecord = fc.record(
  { call_id: text, tool: text, args: normalJson, output: ToolCallOutput, duration_ms: u64 },
  { requiredKeys: ["tool", "args", "output", "duration_ms"] },
);

const ExternalCompletionError = fc.record(
  { code: text, message: text, raw: rawJson },
  { requiredKeys: ["code", "message"] },
);
const Resolution = fc.oneof(
  fc.record({ status: just("ok"), payload: normalJson }),
  fc.record({ status: just("err"), payload: ExternalCompletionError }),
  just({ status: "timeout" }),
  just({ status: "cancelled" }),
);
const ResolveOutcome = fc.oneof(
  just({ status: "accepted" }),
  fc.record({ status: just("already_resolved"), terminal: Resolution }),
  just({ status: "unknown_or_revoked" }),
);

const parts = fc.oneof(
  fc.record({ type: just("text"), text }),
  attachmentRef.map((ref) => ({ type: "attachment", ...ref })),
);
const ModelToolReturn = fc.record({ call_id: text, tool_name: text, parts: fc.array(parts, { maxLength: 3 }) });

const { selector: ProcessValueSelector } = fc.letrec((tie) => ({
  selector: fc.oneof(
    { depthSize: "small" },
    just("payload"),
    fc.record({ pointer: text }),
    fc.record({ const: normalJson }),
    fc.record({ present: text }),
    fc.record({ template: fc.record({ template: text, fields: tie("fields") }) }),
  ),
  fields: fc
    .uniqueArray(fc.tuple(text, tie("selector")), { maxLength: 3, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))),
}));

const observed = { name: text, args: normalJson };
const ended = { ...observed, output: ToolCallOutput, duration_ms: u64 };
const SessionEvent = fc.oneof(
  fc.record({ type: just("tool_call_start"), call_id: text, ...observed }, { requiredKeys: ["type", "name", "args"] }),
  fc.record(
    { type: just("tool_call"), call_id: text, ...ended },
    { requiredKeys: ["type", "name", "args", "output", "duration_ms"] },
  ),
);
const call_id = fc.oneof(text, just(null));
const TurnEvent = fc.oneof(
  fc.record({ type: just("tool_call_started"), call_id, ...observed }),
  fc.record({ type: just("tool_call_completed"), call_id, ...ended }),
);

const ofActivity = { id: text, correlation_id: text };
const TurnActivity = fc.oneof(
  fc.record({ ...ofActivity, type: just("tool_call_started"), call_id, ...observed }),
  fc.record({ ...ofActivity, type: just("tool_call_completed"), call_id, ...ended }),
);

export const records: { readonly [K in keyof typeof wire]: fc.Arbitrary<unknown> } = {
  AttachmentCreateMeta,
  AttachmentMeta: attachmentRef,
  AttachmentRef: attachmentRef,
  Duration,
  ExternalCompletionError,
  MediaType: mediaType,
  ModelToolReturn,
  ModelToolReturnPart: parts,
  PendingCompletion,
  ProcessValueSelector,
  Resolution,
  ResolveOutcome,
  SessionEvent,
  ToolCallOutcome,
  ToolCallOutput,
  ToolCallRecord,
  ToolCancellation,
  ToolControl,
  ToolFailure,
  ToolInvocationReply: fc.record({ output: ToolCallOutput, record: ToolCallRecord }, { requiredKeys: ["output"] }),
  ToolRetryDisposition,
  ToolValue: value,
  TurnActivity,
  TurnEvent,
};
