/**
 * Work on what is large, a slice at a time: generators that yield after each few milliseconds of it. Whoever runs one
 * serves others between two steps. The result is the same as that of the work in one piece.
 */
import { type Codec, encodeAhead } from "./codec.ts";
import { type Json, type JsonObject, isObject, setKey, sortedKeys } from "./json.ts";
import { givenKeys, quote, stringify, stringifyRecord } from "./write.ts";

/** A step of sliced work ends here; the last one returns the result. */
export type Slices<A> = Generator<undefined, A, undefined>;

/** Items of a slice: reading, or writing, so many calls takes a few milliseconds. */
export const sliceOf = 512;

/** Maps a list, a slice at a time. */
export function* mapSlices<A, B>(
  items: readonly A[],
  map: (slice: readonly A[], before: number) => readonly B[],
): Slices<readonly B[]> {
  const done: B[] = [];
  for (let from = 0; from < items.length; from += sliceOf) {
    if (from > 0) yield;
    for (const one of map(items.slice(from, from + sliceOf), from)) done.push(one);
  }
  return done;
}

/** Encodes a list, a slice at a time. The codec of a record that has this list takes the result over. */
export function* encodeSlices<A>(item: Codec<A>, items: readonly A[]): Slices<void> {
  if (items.length > sliceOf) encodeAhead(items, yield* mapSlices(items, (slice) => slice.map(item.encode)));
}

/** Weight of what is written at once: a value weighs 1, and each 64 characters of a text. */
const mostAtOnce = 4096;

/** Bounds the walk, which is on JavaScript's stack: a deeper value counts as heavy. */
const deepest = 256;

/** Weighs JSON, and stops where it is too heavy to be written at once. Whatever is has its place in `heavy`. */
const weightOf = (json: unknown, heavy: Set<unknown>, level = 0): number => {
  if (typeof json === "string") return 1 + (json.length >>> 6);
  if (typeof json !== "object" || json === null) return 1;
  if (level > deepest || heavy.has(json)) return Infinity;
  const parts: readonly unknown[] = Array.isArray(json) ? json : Object.values(json);
  let weight = 1 + parts.length;
  for (let i = 0; i < parts.length && weight <= mostAtOnce; i++) weight += weightOf(parts[i], heavy, level + 1);
  if (weight <= mostAtOnce) return weight;
  heavy.add(json);
  return Infinity;
};

/** Tells whether a value takes some milliseconds to read or write. One that cannot be looked at does not: it is refused. */
export const isHeavy = (value: unknown): boolean => {
  try {
    return weightOf(value, new Set()) > mostAtOnce;
  } catch {
    return false; // A getter, or a proxy.
  }
};

const partOf = (json: JsonObject, keys: readonly string[]): JsonObject => {
  const part: { [key: string]: Json } = {};
  for (const key of keys) setKey(part, key, json[key] as Json);
  return part;
};

/** The text that `stringify` returns. */
export const textSlices = (json: Json): Slices<string> =>
  writtenSlices(json, { write: stringify, keysOf: sortedKeys, heavy: new Set() });

/** The text that `stringifyRecord` returns. */
export const recordSlices = (encoded: unknown): Slices<string> =>
  writtenSlices(encoded as Json, { write: stringifyRecord, keysOf: givenKeys, heavy: new Set() });

interface Writing {
  readonly write: (json: Json) => string;
  readonly keysOf: (json: JsonObject) => readonly string[];
  readonly heavy: Set<unknown>;
}

/** Levels at which values are taken apart. What is heavy by its depth is written at once: a slice is no smaller there. */
const mostLevels = 16;

function* writtenSlices(json: Json, writing: Writing, levels = mostLevels): Slices<string> {
  const { write, keysOf, heavy } = writing;
  const isWhole = levels === 0 || weightOf(json, heavy) <= mostAtOnce;
  if (isWhole || typeof json !== "object" || json === null) return write(json);
  const list = isObject(json) ? undefined : (json as readonly Json[]);
  const keys = list === undefined ? keysOf(json as JsonObject) : [];
  const count = list?.length ?? keys.length;
  const texts: string[] = [];
  let [from, weight] = [0, 0];
  const flush = (upTo: number): void => {
    const part = list === undefined ? partOf(json as JsonObject, keys.slice(from, upTo)) : list.slice(from, upTo);
    if (upTo > from) texts.push(write(part).slice(1, -1));
    [from, weight] = [upTo, 0];
  };
  for (let i = 0; i < count; i++) {
    const key = keys[i];
    const child = list === undefined ? (json as JsonObject)[key as string] : list[i];
    const own = weightOf(child, heavy);
    if (weight + own > mostAtOnce) {
      flush(i);
      yield;
    }
    weight += own;
    if (own <= mostAtOnce) continue;
    const text = yield* writtenSlices(child as Json, writing, levels - 1);
    texts.push(key === undefined ? text : `${quote(key)}:${text}`);
    [from, weight] = [i + 1, 0];
  }
  flush(count);
  return list === undefined ? `{${texts.join(",")}}` : `[${texts.join(",")}]`;
}
