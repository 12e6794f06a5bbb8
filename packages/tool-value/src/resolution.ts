/** Resolutions, by which the outside completes a pending call or another wait, and replies to calls that programs make. */
import * as E from "fp-ts/lib/Either.js";
import { ToolCallRecord } from "./call-record.ts";
import { type Codec, string, text } from "./codec.ts";
import type { Json } from "./json.ts";
import {
  ToolCallOutput,
  cancelledOutput,
  errorText,
  failureOutput,
  runtimeCancellation,
  runtimeFailure,
  successOutput,
  toolFailure,
  withRaw,
} from "./output.ts";
import { optional, record } from "./record.ts";
import { tagged } from "./union.ts";
import { decode, json, lift } from "./value.ts";

export interface ExternalCompletionError {
  readonly code: string;
  readonly message: string;
  readonly raw?: Json;
}

export const ExternalCompletionError: Codec<ExternalCompletionError> = record<ExternalCompletionError>(
  "struct ExternalCompletionError",
  { code: string, message: text, raw: optional(json) },
);

/** The end of a wait. */
export type Resolution =
  | { readonly status: "ok"; readonly payload: Json }
  | { readonly status: "err"; readonly payload: ExternalCompletionError }
  | { readonly status: "timeout" }
  | { readonly status: "cancelled" };

export const Resolution: Codec<Resolution> = tagged<Resolution, "status">("Resolution", "status", {
  ok: { payload: json },
  err: { payload: ExternalCompletionError },
  timeout: {},
  cancelled: {},
});

/** The answer to a resolver: accepted; too late, with the resolution that won; or no such key. */
export type ResolveOutcome =
  | { readonly status: "accepted" }
  | { readonly status: "already_resolved"; readonly terminal: Resolution }
  | { readonly status: "unknown_or_revoked" };

export const ResolveOutcome: Codec<ResolveOutcome> = tagged<ResolveOutcome, "status">("ResolveOutcome", "status", {
  accepted: {},
  already_resolved: { terminal: Resolution },
  unknown_or_revoked: {},
});

/** Returns the output of a pending call whose wait ended with `resolution`. */
export const outputOfResolution = (resolution: Resolution): ToolCallOutput => {
  switch (resolution.status) {
    case "ok":
      return successOutput(lift(resolution.payload));
    case "err": {
      const { code, message, raw } = resolution.payload;
      return failureOutput(withRaw(toolFailure("execution", code, message), raw === undefined ? raw : lift(raw)));
    }
    case "timeout":
      return failureOutput(runtimeFailure("timeout", "tool_completion_timeout", "pending tool completion timed out"));
    case "cancelled":
      return cancelledOutput(runtimeCancellation("pending tool completion cancelled"));
  }
};

/** The reply to a call that a program made. */
export interface ToolInvocationReply {
  readonly output: ToolCallOutput;
  readonly record?: ToolCallRecord;
}

export const ToolInvocationReply: Codec<ToolInvocationReply> = record<ToolInvocationReply>(
  "struct ToolInvocationReply",
  { output: ToolCallOutput, record: optional(ToolCallRecord) },
);

/** Makes the reply of a call that succeeded. */
export const replySuccess = (value: Json): ToolInvocationReply => ({ output: successOutput(lift(value)) });

/** Builds a failed reply. Unlike in `err`, `raw` is the error decoded as a value, or a fixed text if that fails. */
export const replyError = (error: Json): ToolInvocationReply => {
  const failure = toolFailure("execution", "tool_error", errorText(error));
  const decoded = decode(error);
  const raw = E.isRight(decoded) ? decoded.right : "unserializable tool error";
  return { output: failureOutput(withRaw(failure, raw)) };
};

/** Makes the reply of a call that was cancelled. */
export const replyCancelled = (message: string): ToolInvocationReply => ({
  output: cancelledOutput(runtimeCancellation(message)),
});
