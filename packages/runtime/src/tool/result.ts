/**
 * Results as tool authors and hosts of a registry know them. `host/outcome.ts` converts them to the outcome of the core; the
 * reply of a registry that executes a call is made here.
 */
import { textOf } from "../error.ts";
import {
  type Json,
  type JsonObject,
  internalErrorText,
  isObject,
  type FailureClass,
  type ToolValue,
} from "@pawl/tool-value";
import type { Reply } from "../session/call.ts";

/** An image in a tool's result. Its bytes are stored before anything is recorded. */
export interface ToolImage {
  readonly base64: string;
  readonly media_type: string;
}

export type ExecutionResult =
  | { readonly type: "success"; readonly value: Json }
  | { readonly type: "success_with_images"; readonly result: Json; readonly images: readonly ToolImage[] }
  | { readonly type: "tool_error"; readonly message: string }
  /** Hidden from models, logged in full. */
  | { readonly type: "internal_error"; readonly message: string; readonly source?: unknown }
  | { readonly type: "connection_required"; readonly provider: string };

/** Results made by this module. A value of the same form is an ordinary value. */
const results = new WeakSet<object>();
const made = (result: ExecutionResult): ExecutionResult => {
  results.add(result);
  return result;
};
/** Recognises the results of built-in tools. */
export const isExecutionResult = (u: unknown): u is ExecutionResult =>
  typeof u === "object" && u !== null && results.has(u);

/** Makes the result of a built-in tool that succeeded. */
export const success = (value: Json): ExecutionResult => made({ type: "success", value });
/** Makes the result of a built-in tool that succeeded and shows images. */
export const successWithImages = (result: Json, images: readonly ToolImage[]): ExecutionResult =>
  made({ type: "success_with_images", result, images });
/** Makes the result of a built-in tool that failed with a message for the model. */
export const toolError = (message: string): ExecutionResult => made({ type: "tool_error", message });
/** Makes the result of a tool that failed internally, with the error's message; the error itself is its source. */
export const internalError = (error: unknown): ExecutionResult =>
  made({ type: "internal_error", message: textOf(error), source: error });
/** Says that a tool needs a connection of a provider before it can run. */
export const connectionRequired = (provider: string): ExecutionResult =>
  made({ type: "connection_required", provider });

/** Returns whether a built-in tool has succeeded. A missing connection is neither a success nor an error. */
export const isSuccess = ({ type }: ExecutionResult): boolean => type === "success" || type === "success_with_images";
/** Returns whether a built-in tool has failed. */
export const isErrorResult = ({ type }: ExecutionResult): boolean => type === "tool_error" || type === "internal_error";

const rawKey = "_raw_output";
const scalarKey = "_raw_output_scalar";

/** Makes a successful result with its unabridged output, which no model sees. */
export const successWithRawOutput = (value: Json, raw: string): ExecutionResult =>
  success(isObject(value) ? { ...value, [rawKey]: raw } : { [scalarKey]: value, [rawKey]: raw });

/** Takes the unabridged output out of a successful value. */
export const withoutRawOutput = (value: Json): { readonly value: Json; readonly rawOutput?: string } => {
  if (!isObject(value) || !Object.hasOwn(value, rawKey)) return { value };
  const { [rawKey]: raw, ...rest } = value;
  if (typeof raw !== "string") return { value: rest };
  const keys = Object.keys(rest);
  const isCarrier = keys.length === 1 && keys[0] === scalarKey;
  return { value: isCarrier ? (rest[scalarKey] as Json) : rest, rawOutput: raw };
};

/** Joins the messages of an error and its causes, outermost first, without repeats. */
export const causeChain = (thrown: unknown): string => {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  for (let at = thrown; at !== undefined && at !== null && !seen.has(at);) {
    seen.add(at);
    const text = textOf(at);
    if (text !== texts.at(-1)) texts.push(text);
    at = at instanceof Error ? at.cause : undefined;
  }
  return texts.join(": ");
};

/** A registry's reply to a call that it executed. Only `json` leaves the caller. */
export interface RegistryReply {
  readonly json: JsonObject;
  readonly rawOutput?: string;
  /** The messages of an internal failure and its causes, for logs; models do not see them. */
  readonly detail?: string;
}

const replyOf = (callId: string, result: Json, error: string | null, more: JsonObject = {}): JsonObject => ({
  tool_call_id: callId,
  result,
  error,
  ...more,
});

/** Writes the result of a built-in tool as a registry answers it. */
export const registryReply = (callId: string, result: ExecutionResult): RegistryReply => {
  switch (result.type) {
    case "success": {
      const { value, ...raw } = withoutRawOutput(result.value);
      return { json: replyOf(callId, value, null), ...raw };
    }
    case "success_with_images": {
      const images = result.images.map(({ base64, media_type }) => ({ base64, media_type }));
      return { json: replyOf(callId, result.result, null, images.length === 0 ? {} : { images }) };
    }
    case "tool_error":
      return { json: replyOf(callId, { error: result.message }, result.message) };
    case "internal_error":
      return {
        json: replyOf(callId, { error: internalErrorText }, internalErrorText),
        detail: causeChain(result.source ?? result.message),
      };
    case "connection_required": {
      const { provider } = result;
      return { json: replyOf(callId, { connection_required: provider }, null, { connection_required: provider }) };
    }
  }
};

/** A tool as a call names it: its definition, which types the call, or its name. */
export type CalledTool<Input, Result> =
  | { readonly name: string; readonly "~types"?: { readonly input: Input; readonly result: Result } }
  | string;

/** Thrown where a call has ended without a result. It has the failure's own message. */
export class ToolFailed extends Error {
  override readonly name = "ToolFailed";
  /** The class of the failure; `cancelled` where the call was cancelled. */
  readonly class: FailureClass | "cancelled";
  readonly code: string;
  /** The whole reply: which call it was, with which arguments, and its output. */
  readonly reply: Reply;

  constructor(reply: Reply, failure: Pick<ToolFailed, "class" | "code" | "message">) {
    super(failure.message);
    this.class = failure.class;
    this.code = failure.code;
    this.reply = reply;
  }
}

/** Returns the value of a call that has succeeded; throws `ToolFailed` for any other. */
export const valueOfReply = (reply: Reply): ToolValue => {
  const { outcome } = reply.output;
  switch (outcome.status) {
    case "success":
      return outcome.payload;
    case "failure":
      throw new ToolFailed(reply, outcome.payload);
    case "cancelled":
      throw new ToolFailed(reply, { class: "cancelled", code: "cancelled", message: outcome.payload.message });
  }
};
