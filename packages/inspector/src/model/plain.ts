/** Rows of a state as plain JSON, to be shown. */
import { type Json, type ToolValue, encode, isAttachment } from "@pawl/tool-value";
import { PersistentMap } from "@pawl/sansio-core";

const entriesOf = (value: object): readonly (readonly [string, unknown])[] =>
  value instanceof PersistentMap
    ? value.entries().map(([key, row]) => [String(key), row] as const)
    : Object.entries(value);

export const plain = (value: unknown): Json => {
  if (typeof value !== "object" || value === null) return value === undefined ? null : (value as Json);
  if (isAttachment(value)) return encode(value as ToolValue);
  if (Array.isArray(value)) return value.map(plain);
  const fields = entriesOf(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, plain(field)])) as Json;
};
