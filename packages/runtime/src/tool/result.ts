/**
 * Results as tool authors and hosts of a registry know them: a face of the one outcome that core, log and replies have.
 * What becomes of each is said in `outcome.ts`, and for the registry's own executor here.
 */
import { type Json, type JsonObject, internalErrorText } from "@pawl/tool-value";
import { isObject } from "../json-object.ts";

/** An image that a tool hands over in its result; its bytes are stored before anything is recorded. */
export interface ToolImage {
  readonly base64: string;
  readonly media_type: string;
}

export type ExecutionResult =
  | { readonly type: "success"; readonly value: Json }
  | { readonly type: "success_with_images"; readonly result: Json; readonly images: readonly ToolImage[] }
  | { readonly type: "tool_error"; readonly message: string }
  /** Hidden from models, and logged in full. */
  | { readonly type: "internal_error"; readonly message: string; readonly source?: unknown }
  | { readonly type: "connection_required"; readonly provider: string };

/** The results that were made here: a value that only looks like one is a value. */
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
/** Of an error object: its message, and the object as its source. */
export const internalError = (error: unknown): ExecutionResult =>
  made({ type: "internal_error", message: error instanceof Error ? error.message : String(error), source: error });
/** Says that a tool needs a connection of a provider before it can run. */
export const connectionRequired = (provider: string): ExecutionResult =>
  made({ type: "connection_required", provider });

/** A connection that is missing is neither a success nor an error. */
export const isSuccess = ({ type }: ExecutionResult): boolean => type === "success" || type === "success_with_images";
/** Returns whether a built-in tool has failed. */
export const isError = ({ type }: ExecutionResult): boolean => type === "tool_error" || type === "internal_error";

const rawKey = "_raw_output";
const scalarKey = "_raw_output_scalar";

/** A value with its unabridged output beside it, which no model sees. */
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

/** The message of an error and of its causes, outermost first; a cause that says the same again is skipped. */
export const causeChain = (thrown: unknown): string => {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  for (let at = thrown; at !== undefined && at !== null && !seen.has(at);) {
    seen.add(at);
    const text = at instanceof Error ? at.message : String(at);
    if (text !== texts.at(-1)) texts.push(text);
    at = at instanceof Error ? at.cause : undefined;
  }
  return texts.join(": ");
};

/** The reply of a registry that is asked to execute a call; what is not in its JSON stays with the caller. */
export interface RegistryReply {
  readonly json: JsonObject;
  readonly rawOutput?: string;
  /** What a log is to know of an internal failure, which no model is told: its message, and those of its causes. */
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
