/**
 * The output of a tool call: its outcome, and optionally a control, by which the tool directs the turn that called it.
 *
 *   outcome   success    a value
 *             failure    class, code, message, source, retry, and optionally a raw value
 *             cancelled  message, source, and optionally a raw value
 *
 * Field names are those of the wire format.
 */
import { type AttachmentRef } from "./attachment.ts";
import { type Codec, string, text, u64 } from "./codec.ts";
import type { Json } from "./json.ts";
import type { ToolValue } from "./model.ts";
import { list, optional, record } from "./record.ts";
import { oneOf, tagged } from "./union.ts";
import { attachments, encode, json, lift, toolValue } from "./value.ts";
import { stringify } from "./write.ts";

export type FailureClass =
  | "invalid_request"
  | "unavailable"
  | "permission_denied"
  | "timeout"
  | "execution"
  | "external"
  | "resource_limit"
  | "internal";
export const FailureClass: Codec<FailureClass> = oneOf(
  "a failure class",
  "invalid_request",
  "unavailable",
  "permission_denied",
  "timeout",
  "execution",
  "external",
  "resource_limit",
  "internal",
);

export type OutcomeSource = "runtime" | "tool" | "plugin" | "policy" | "cancellation";
const OutcomeSource: Codec<OutcomeSource> = oneOf(
  "an outcome source",
  "runtime",
  "tool",
  "plugin",
  "policy",
  "cancellation",
);

/** Tells the caller if it may make the same call again. */
export type ToolRetryDisposition =
  | { readonly type: "never" }
  | { readonly type: "safe"; readonly after_ms?: number }
  | { readonly type: "exhausted"; readonly attempts: number };
export const ToolRetryDisposition: Codec<ToolRetryDisposition> = tagged<ToolRetryDisposition, "type">(
  "ToolRetryDisposition",
  "type",
  { never: {}, safe: { after_ms: optional(u64) }, exhausted: { attempts: u64 } },
);

export interface ToolFailure {
  readonly class: FailureClass;
  readonly code: string;
  readonly message: string;
  readonly source: OutcomeSource;
  readonly retry: ToolRetryDisposition;
  readonly raw?: ToolValue;
}
export const ToolFailure: Codec<ToolFailure> = record<ToolFailure>("struct ToolFailure", {
  class: FailureClass,
  code: string,
  message: text,
  source: OutcomeSource,
  retry: ToolRetryDisposition,
  raw: optional(toolValue),
});

export interface ToolCancellation {
  readonly message: string;
  readonly source: OutcomeSource;
  readonly raw?: ToolValue;
}
export const ToolCancellation: Codec<ToolCancellation> = record<ToolCancellation>("struct ToolCancellation", {
  message: text,
  source: OutcomeSource,
  raw: optional(toolValue),
});

/** A tool's instruction to the turn that called it. */
export type ToolControl =
  | {
      readonly type: "switch_agent_frame";
      readonly frame_id: string;
      readonly initial_nodes: readonly Json[];
      readonly task?: string;
    }
  | { readonly type: "finish"; readonly value: ToolValue }
  | { readonly type: "fail"; readonly failure: ToolFailure };
export const ToolControl: Codec<ToolControl> = tagged<ToolControl, "type">("ToolControl", "type", {
  switch_agent_frame: {
    frame_id: string,
    initial_nodes: list(json),
    task: optional(text),
  },
  finish: { value: toolValue },
  fail: { failure: ToolFailure },
});

export type ToolCallOutcome =
  | { readonly status: "success"; readonly payload: ToolValue }
  | { readonly status: "failure"; readonly payload: ToolFailure }
  | { readonly status: "cancelled"; readonly payload: ToolCancellation };
export const ToolCallOutcome: Codec<ToolCallOutcome> = tagged<ToolCallOutcome, "status">("ToolCallOutcome", "status", {
  success: { payload: toolValue },
  failure: { payload: ToolFailure },
  cancelled: { payload: ToolCancellation },
});
export type ToolCallStatus = ToolCallOutcome["status"];

export interface ToolCallOutput {
  readonly outcome: ToolCallOutcome;
  readonly control?: ToolControl;
}
export const ToolCallOutput: Codec<ToolCallOutput> = record<ToolCallOutput>("struct ToolCallOutput", {
  outcome: ToolCallOutcome,
  control: optional(ToolControl),
});

const never: ToolRetryDisposition = { type: "never" };

/** Builds a failure that the runtime itself reports. */
export const runtimeFailure = (failureClass: FailureClass, code: string, message: string): ToolFailure => ({
  class: failureClass,
  code,
  message,
  source: "runtime",
  retry: never,
});

/** Builds a failure that the tool reports. */
export const toolFailure = (failureClass: FailureClass, code: string, message: string): ToolFailure => ({
  ...runtimeFailure(failureClass, code, message),
  source: "tool",
});

/** Says of a failure whether another attempt may follow. */
export const withRetry = (failure: ToolFailure, retry: ToolRetryDisposition): ToolFailure => ({ ...failure, retry });

/** Builds a failure of the tool after which the same call may be made again, once `afterMs` have passed. */
export const safeRetryFailure = (
  failureClass: FailureClass,
  code: string,
  message: string,
  afterMs?: number,
): ToolFailure =>
  withRetry(
    toolFailure(failureClass, code, message),
    afterMs === undefined ? { type: "safe" } : { type: "safe", after_ms: afterMs },
  );

/** Makes a cancellation by the runtime. */
export const runtimeCancellation = (message: string): ToolCancellation => ({ message, source: "cancellation" });

/** Makes the output of a call that succeeded. */
export const successOutput = (value: ToolValue): ToolCallOutput => ({ outcome: { status: "success", payload: value } });
/** Makes the output of a failed call. */
export const failureOutput = (failure: ToolFailure): ToolCallOutput => ({
  outcome: { status: "failure", payload: failure },
});
/** Makes the output of a cancelled call. */
export const cancelledOutput = (cancellation: ToolCancellation): ToolCallOutput => ({
  outcome: { status: "cancelled", payload: cancellation },
});

/** Adds a raw value to a failure. `null` counts as no value, since the log does not keep it either. */
export const withRaw = (failure: ToolFailure, raw: ToolValue | undefined): ToolFailure =>
  raw === undefined || raw === null ? failure : { ...failure, raw };

/** Converts an error value to a message: a string as it is, anything else as compact JSON. */
export const errorText = (error: Json): string => (typeof error === "string" ? error : stringify(error));

/** Builds the output for a tool's own error, any JSON. `raw` keeps it literally. */
export const errorOutput = (error: Json): ToolCallOutput =>
  failureOutput(withRaw(toolFailure("execution", "tool_error", errorText(error)), lift(error)));

/** Returns how a call ended: `success`, `failure` or `cancelled`. */
export const statusOf = (output: ToolCallOutput): ToolCallStatus => output.outcome.status;
/** Returns whether a call succeeded. */
export const isSuccess = (output: ToolCallOutput): boolean => statusOf(output) === "success";

/** Returns the value of an output, if it has one: its result, or the raw value of its failure or cancellation. */
const valueOf = ({ outcome }: ToolCallOutput): ToolValue | undefined =>
  outcome.status === "success" ? outcome.payload : (outcome.payload.raw ?? undefined);

/** Lists the attachments of an output. */
export const outputAttachments = (output: ToolCallOutput): readonly AttachmentRef[] => {
  const value = valueOf(output);
  return value === undefined ? [] : attachments(value);
};

const encodedOutcome = (outcome: ToolCallOutcome): Json =>
  (ToolCallOutcome.encode(outcome) as { readonly payload: Json }).payload;

/** Returns an output as JSON: its value, or the whole failure or cancellation. */
export const valueForProjection = ({ outcome }: ToolCallOutput): Json => encodedOutcome(outcome);

/** Returns an output as JSON, as `valueForProjection` does, but prefers the raw value of a failure or cancellation. */
export const resultForProjection = (output: ToolCallOutput): Json => {
  const value = valueOf(output);
  return value === undefined ? encodedOutcome(output.outcome) : encode(value);
};
