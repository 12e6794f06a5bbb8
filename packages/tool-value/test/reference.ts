/** The plainest definition of values. Expectations come from here, never from the code under test. */
import { type ToolValue, isAttachment, tagKey } from "../src/index.ts";

type Entries = { readonly [key: string]: unknown };

const mapEntries = (object: Entries, change: (child: unknown) => unknown): Entries =>
  Object.fromEntries(Object.entries(object).map(([key, child]) => [key, change(child)]));

/** Returns a value's JSON, as the specification defines it. */
export const referenceJson = (value: unknown): unknown => {
  if (isAttachment(value)) return { [tagKey]: "attachment", ref: value.ref };
  if (Array.isArray(value)) return value.map(referenceJson);
  if (typeof value !== "object" || value === null) return value;
  const entries = mapEntries(value as Entries, referenceJson);
  return Object.hasOwn(value, tagKey) ? { [tagKey]: "object", entries } : entries;
};

/** Writes RFC 8785 with exact integers, and `mark` for each attachment. */
export const referenceText = (json: unknown, mark = ""): string => {
  if (isAttachment(json)) return mark;
  if (Array.isArray(json)) return `[${json.map((item) => referenceText(item, mark)).join(",")}]`;
  if (typeof json !== "object" || json === null) {
    return typeof json === "string" ? JSON.stringify(json) : String(json === 0 ? 0 : json);
  }
  const keys = Object.keys(json).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${referenceText((json as Entries)[key], mark)}`).join(",")}}`;
};

/** Tells whether two values are the same to the bit, down to the type of numbers and the order of keys. */
export const identical = (a: unknown, b: unknown): boolean => {
  if (isAttachment(a) || isAttachment(b)) return isAttachment(a) && isAttachment(b) && identical(a.ref, b.ref);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  const keys = Object.keys(a);
  const others = Object.keys(b);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== others.length) return false;
  return keys.every((key, i) => key === others[i] && identical((a as Entries)[key], (b as Entries)[key]));
};

/** Lists the ids of attachments by a plain walk. */
export const referenceIds = (value: ToolValue): readonly string[] => {
  if (isAttachment(value)) return [value.ref.id];
  if (typeof value !== "object" || value === null) return [];
  const children = Array.isArray(value)
    ? value
    : Object.keys(value)
        .toSorted()
        .map((key) => (value as { readonly [key: string]: ToolValue })[key]);
  return children.flatMap((child) => referenceIds(child as ToolValue));
};
