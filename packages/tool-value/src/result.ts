/** What a tool's body gives back: its output, or the promise that one will come from outside. */
import * as E from "fp-ts/lib/Either.js";
import { type Codec, u32, u64 } from "./codec.ts";
import { type Json, describe } from "./json.ts";
import {
  type ToolCallOutput,
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

export interface PendingCompletion {
  readonly deadline?: Duration;
  readonly on_timeout: "error_as_result" | "fail_turn";
  readonly on_cancel: "ignore" | "cancel_external_work";
}

export const defaultPendingCompletion: PendingCompletion = {
  on_timeout: "error_as_result",
  on_cancel: "cancel_external_work",
};

const kept = (): boolean => false;

export const PendingCompletion: Codec<PendingCompletion> = record<PendingCompletion>("struct PendingCompletion", {
  deadline: optional(Duration),
  on_timeout: defaulted(oneOf("on_timeout", "error_as_result", "fail_turn"), defaultPendingCompletion.on_timeout, kept),
  on_cancel: defaulted(oneOf("on_cancel", "ignore", "cancel_external_work"), defaultPendingCompletion.on_cancel, kept),
});

/** What a tool's body gives back: its output, or the promise that one will come from outside. */
export type ToolResult =
  | { readonly type: "done"; readonly output: ToolCallOutput }
  | { readonly type: "pending"; readonly pending: PendingCompletion };

/** The results that were made here: a value that only looks like one is a value. */
const results = new WeakSet<object>();

const made = (result: ToolResult): ToolResult => {
  results.add(result);
  return result;
};

export const isToolResult = (u: unknown): u is ToolResult => typeof u === "object" && u !== null && results.has(u);

export const done = (output: ToolCallOutput): ToolResult => made({ type: "done", output });

export const pending = (completion: Partial<PendingCompletion> = {}): ToolResult =>
  made({ type: "pending", pending: { ...defaultPendingCompletion, ...completion } });

export const ok = (value: Json): ToolResult => done(successOutput(lift(value)));

export const err = (error: Json): ToolResult => done(errorOutput(error));

export const cancelled = (message: string): ToolResult => done(cancelledOutput(runtimeCancellation(message)));

/** The output of a body that returned this; what is no value is the tool's error. */
export const outputOfReturned = (returned: unknown): ToolCallOutput => {
  const value = fromJs(returned);
  if (E.isRight(value)) return successOutput(value.right);
  return errorOutput(`Failed to serialize tool result: ${describe(value.left)}`);
};

export const resultOf = (returned: unknown): ToolResult => done(outputOfReturned(returned));

/** What models and callers see of an error that was not meant for them. */
export const internalErrorText = "An internal error occurred while executing the tool";

export const internalErrorOutput = failureOutput(runtimeFailure("internal", "tool_internal_error", internalErrorText));

/** A control goes with an output; a pending call has none yet. */
export const withControl = (result: ToolResult, control: NonNullable<ToolCallOutput["control"]>): ToolResult =>
  result.type === "pending" ? result : done({ ...result.output, control });
