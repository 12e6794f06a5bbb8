/** The short way through the gate, for what is in normal form already: most of what is read back from a log. */
import { type Json, isBefore } from "./json.ts";
import { tagKey } from "./model.ts";

/** Deeper values take the long way, which needs no stack. */
const plainDepth = 32;

const copyItems = (items: readonly unknown[], depth: number): Json | undefined => {
  const copy: Json[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = copyOf(items[i], depth);
    if (item === undefined) return undefined;
    copy.push(item);
  }
  return copy;
};

/** Keys that stand in order; those that mean something else than themselves take the long way. */
const isPlainKey = (key: string, last: string | undefined): boolean =>
  (last === undefined || isBefore(last, key)) && key !== tagKey && key !== "__proto__" && key.isWellFormed();

const copyEntries = (source: object, depth: number): Json | undefined => {
  if (Object.getPrototypeOf(source) !== Object.prototype) return undefined;
  const copy: { [key: string]: Json } = {};
  let last: string | undefined;
  for (const key of Object.keys(source)) {
    const value = isPlainKey(key, last) ? copyOf((source as Record<string, unknown>)[key], depth) : undefined;
    if (value === undefined) return undefined;
    copy[key] = value;
    last = key;
  }
  return copy;
};

const copyOf = (input: unknown, depth: number): Json | undefined => {
  switch (typeof input) {
    case "string":
      return input.isWellFormed() ? input : undefined;
    case "number":
      return Number.isSafeInteger(input) && input !== 0 ? input : floatOrZero(input);
    case "boolean":
      return input;
    case "object":
      if (input === null) return null;
      if (depth === 0) return undefined;
      return Array.isArray(input) ? copyItems(input, depth - 1) : copyEntries(input, depth - 1);
    default:
      return undefined;
  }
};

/** Numbers that are normal without being safe integers: fractions. */
const floatOrZero = (n: number): number | undefined => {
  if (n === 0) return 0;
  return Number.isFinite(n) && !Number.isInteger(n) ? n : undefined;
};

/** A copy of a plain value in normal form; undefined where it is not certain to be one. */
export const copyPlain = (input: unknown): Json | undefined => copyOf(input, plainDepth);
