/** Fields of a case's input, which is JSON of no fixed shape. */
import type { Json } from "@pawl/tool-value";

export type Input = { readonly [field: string]: Json };

export const textOf = (json: Json | undefined): string | undefined => (typeof json === "string" ? json : undefined);
export const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : []);
export const objectOf = (json: Json | undefined): Input =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Input) : {};
