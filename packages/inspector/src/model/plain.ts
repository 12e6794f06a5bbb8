/** Rows of a state as plain JSON, to be shown. */
import { type Json, type ToolValue, encode, isAttachment } from "@pawl/tool-value";
import { PersistentMap } from "@pawl/sansio-core";

const entriesOf = (value: object): readonly (readonly [string, unknown])[] =>
  value instanceof PersistentMap
    ? value.entries().map(([key, row]) => [String(key), row] as const)
    : Object.entries(value);

/** What is deeper can be neither handed from a worker to its page nor opened there: a log may hold more than a stack. */
const deepest = 300;
const cut = "…";

export const plain = (value: unknown, depth = 0): Json => {
  if (typeof value !== "object" || value === null) return value === undefined ? null : (value as Json);
  if (depth === deepest) return cut;
  if (isAttachment(value)) return encode(value as ToolValue);
  if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1));
  const fields = entriesOf(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, plain(field, depth + 1)])) as Json;
};
