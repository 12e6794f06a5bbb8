/**
 * The result of a tool's body: an output, or the statement that the call is pending, in which case a resolution from
 * outside completes it (resolution.ts). A body may also return a plain value, which becomes a successful output.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Codec, u32, u64 } from "./codec.ts";
import { type Json, describe } from "./json.ts";
import {
  type ToolCallOutput,
  type ToolFailure,
  cancelledOutput,
  errorOutput,
  failureOutput,
  runtimeCancellation,
  runtimeFailure,
  successOutput,
} from "./output.ts";
import { defaulted, optional, record } from "./record.ts";
import { oneOf } from "./union.ts";
import { fromJs, lift } from "./value.ts";

export interface Duration {
  readonly secs: number;
  readonly nanos: number;
}

export const Duration: Codec<Duration> = record<Duration>("struct Duration", { secs: u64, nanos: u32 });

/** The deadline of a pending call, and the reactions to timeout and cancellation. */
export interface PendingCompletion {
  readonly deadline?: Duration;
  readonly on_timeout: "error_as_result" | "fail_turn";
  readonly on_cancel: "ignore" | "cancel_external_work";
}

/** Sets the defaults of `pending()`: no deadline, a timeout is an error, a cancel reaches the outside work. */
export const defaultPendingCompletion: PendingCompletion = {
  on_timeout: "error_as_result",
  on_cancel: "cancel_external_work",
};

const never = (): boolean => false;

export const PendingCompletion: Codec<PendingCompletion> = record<PendingCompletion>("struct PendingCompletion", {
  deadline: optional(Duration),
  on_timeout: defaulted(
    oneOf("on_timeout", "error_as_result", "fail_turn"),
    defaultPendingCompletion.on_timeout,
    never,
  ),
  on_cancel: defaulted(oneOf("on_cancel", "ignore", "cancel_external_work"), defaultPendingCompletion.on_cancel, never),
});

export type ToolResult =
  | { readonly type: "done"; readonly output: ToolCallOutput }
  | { readonly type: "pending"; readonly pending: PendingCompletion };

/** The results made by this module. A plain value of the same shape is a value, not a result. */
const results = new WeakSet<object>();

const registered = (result: ToolResult): ToolResult => {
  results.add(result);
  return result;
};

/** Recognises results that were made by `ok`, `err`, `cancelled`, `pending` or `done`. */
export const isToolResult = (u: unknown): u is ToolResult => typeof u === "object" && u !== null && results.has(u);

/** Ends a call with an output. */
export const done = (output: ToolCallOutput): ToolResult => registered({ type: "done", output });

/** Leaves a call open until the outside completes it. */
export const pending = (completion: Partial<PendingCompletion> = {}): ToolResult =>
  registered({ type: "pending", pending: { ...defaultPendingCompletion, ...completion } });

/** The failure of a body that returned a pending result without ever obtaining a key: nobody could complete the call. */
export const pendingWithoutKey: ToolFailure = runtimeFailure(
  "internal",
  "pending_tool_missing_completion_key",
  "tool returned Pending without first obtaining a completion key",
);

/** Ends a call with a value. */
export const ok = (value: Json): ToolResult => done(successOutput(lift(value)));

/** Ends a call with an error that the model reads. */
export const err = (error: Json): ToolResult => done(errorOutput(error));

/** Ends a call as cancelled. */
export const cancelled = (message: string): ToolResult => done(cancelledOutput(runtimeCancellation(message)));

/** Returns the output of a body that returned `returned`. Anything but a value is the tool's error. */
export const outputOfReturned = (returned: unknown): ToolCallOutput => {
  const value = fromJs(returned);
  if (E.isRight(value)) return successOutput(value.right);
  return errorOutput(`Failed to serialize tool result: ${describe(value.left)}`);
};

/** Makes a result of whatever a body returned. */
export const resultOf = (returned: unknown): ToolResult => done(outputOfReturned(returned));

/** The text that models and callers see in place of an internal error. */
export const internalErrorText = "An internal error occurred while executing the tool";

/** Stands for any error whose text no model is shown. */
export const internalErrorOutput = failureOutput(runtimeFailure("internal", "tool_internal_error", internalErrorText));

/** Adds a control to the output. A pending call has no output yet and is returned unchanged. */
export const withControl = (result: ToolResult, control: NonNullable<ToolCallOutput["control"]>): ToolResult =>
  result.type === "pending" ? result : done({ ...result.output, control });
