/** What the body of a built-in tool comes to, and what a caller is told of it. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { hiddenFailure } from "@pawl/sansio-core";

export interface Image {
  readonly base64: string;
  readonly media_type: string;
}

export type ToolExecutionResult =
  | { readonly type: "success"; readonly value: Json }
  | { readonly type: "success_with_images"; readonly result: Json; readonly images: readonly Image[] }
  /** Safe for models. */
  | { readonly type: "tool_error"; readonly message: string }
  /** For the log of the host alone. */
  | { readonly type: "internal_error"; readonly message: string; readonly source?: unknown }
  | { readonly type: "connection_required"; readonly provider: string };

export const success = (value: Json): ToolExecutionResult => ({ type: "success", value });
export const toolError = (message: string): ToolExecutionResult => ({ type: "tool_error", message });
export const internalError = (thrown: unknown): ToolExecutionResult => ({
  type: "internal_error",
  message: thrown instanceof Error ? thrown.message : String(thrown),
  source: thrown,
});

export const isSuccess = ({ type }: ToolExecutionResult): boolean =>
  type === "success" || type === "success_with_images";
export const isError = ({ type }: ToolExecutionResult): boolean => type === "tool_error" || type === "internal_error";

const rawKey = "_raw_output";
const scalarKey = "_raw_output_scalar";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value with its whole output beside it, for whoever stores it. */
export const successWithRawOutput = (value: Json, raw: string): ToolExecutionResult =>
  success(isObject(value) ? { ...value, [rawKey]: raw } : { [scalarKey]: value, [rawKey]: raw });

/** What a value says without its output, and the output, where there is one. */
export const takeRawOutput = (value: Json): { readonly value: Json; readonly raw?: string } => {
  if (!isObject(value) || !Object.hasOwn(value, rawKey)) return { value };
  const { [rawKey]: raw, ...rest } = value;
  if (typeof raw !== "string") return { value: rest };
  const isCarrier = Object.keys(rest).length === 1 && Object.hasOwn(rest, scalarKey);
  return { value: isCarrier ? (rest[scalarKey] as Json) : rest, raw };
};

/** A result as it is written; `raw` is never part of it. */
export interface Mapped {
  readonly json: JsonObject;
  readonly raw?: string;
}

const failed = (callId: string, message: string): Mapped => ({
  json: { tool_call_id: callId, result: { error: message }, error: message },
});

export const resultOf = (callId: string, result: ToolExecutionResult): Mapped => {
  switch (result.type) {
    case "success": {
      const { value, raw } = takeRawOutput(result.value);
      const json = { tool_call_id: callId, result: value, error: null };
      return raw === undefined ? { json } : { json, raw };
    }
    case "success_with_images": {
      const images = result.images.map((image): JsonObject => ({ ...image }));
      const json = { tool_call_id: callId, result: result.result, error: null };
      return { json: images.length === 0 ? json : { ...json, images } };
    }
    case "tool_error":
      return failed(callId, result.message);
    case "internal_error":
      return failed(callId, hiddenFailure);
    case "connection_required": {
      const { provider } = result;
      const said = { connection_required: provider };
      return { json: { tool_call_id: callId, result: said, error: null, ...said } };
    }
  }
};

/** A message and those of its causes; what only repeats the one before is left out. */
export const chainText = (texts: readonly string[]): string =>
  texts.filter((text, i) => i === 0 || text !== texts[i - 1]).join(": ");

/** What the log is told of an error, cause by cause. */
export const causesOf = (thrown: unknown): readonly string[] => {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  for (let at = thrown; at !== undefined && at !== null && !seen.has(at);) {
    seen.add(at);
    texts.push(at instanceof Error ? at.message : String(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return texts;
};
