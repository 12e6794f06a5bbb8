/** Tells JSON objects from other JSON. */
import type { JsonObject } from "@pawl/tool-value";

export const isObject = (json: unknown): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);
