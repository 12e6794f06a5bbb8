/** The inputs and outputs that the adapters share. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { ExecutionResult } from "@pawl/runtime";
import type { RegistryReply } from "@pawl/runtime/driver";

export type Result = E.Either<{ readonly message: string }, unknown>;

export const failed = (message: string): Result => E.left({ message });
export const checked = <A>(either: E.Either<string, A>): Result =>
  E.mapLeft((message: string) => ({ message }))(either);

export const object = (json: Json | undefined): JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? (json as JsonObject) : {};
export const list = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : []);
export const text = (json: Json | undefined): string => (typeof json === "string" ? json : "");
export const number = (json: Json | undefined): number => (typeof json === "number" ? json : 0);
export const maybeText = (json: Json | undefined): string | undefined => (typeof json === "string" ? json : undefined);

/** Reads a text that is written out, or given as a repetition. */
export const textIn = (json: Json | undefined): string => {
  const [part, times] = list(object(json)["repeat"]);
  return typeof part === "string" && typeof times === "number" ? part.repeat(times) : text(json);
};

/** Returns the result of a tool's body by the names of the cases. */
export const said = (result: ExecutionResult): Result => {
  switch (result.type) {
    case "success":
      return E.right(result.value);
    case "success_with_images":
      return E.right({ ...object(result.result), images: result.images });
    case "tool_error":
    case "internal_error":
      return failed(result.message);
    case "connection_required":
      return E.right({ connection_required: result.provider });
  }
};

export const mapped = ({ json, rawOutput }: RegistryReply) => ({ json, raw_output: rawOutput ?? null });
