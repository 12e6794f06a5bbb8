/** The engine's own parser, for the texts that it reads exactly and within limits: most of them. */
import type { Json, JsonObject } from "./json.ts";
import type { Limits } from "./limits.ts";

/** Integers of fewer digits are in the safe range. */
const longDigits = 16;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isSpace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;

/** Comma, minus, colon, bracket: what a number may stand behind, besides space and nothing. Hashes are full of digits. */
const beforeNumber: ReadonlySet<number> = new Set([0x2c, 0x2d, 0x3a, 0x5b]);
const mayBeginAt = (text: string, start: number): boolean => {
  const unit = text.charCodeAt(start - 1);
  return start === 0 || beforeNumber.has(unit) || isSpace(unit);
};

/**
 * Whether there may be an integer beyond the safe range: so many digits in a row, where a number may begin. Only every
 * 16th place is looked at, which such a row cannot slip between.
 */
const mayHoldLongInteger = (text: string): boolean => {
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    while (isDigit(text.charCodeAt(at + 1))) at += 1;
    if (at - start >= longDigits - 1 && mayBeginAt(text, start)) return true;
  }
  return false;
};

const colonFollows = (text: string, at: number): boolean => {
  let next = at;
  while (isSpace(text.charCodeAt(next))) next += 1;
  return text[next] === ":";
};

/** Whether an escape may be half a surrogate pair, or stands in a key: what follows the next quote is a colon. */
const hasRiskyEscape = (text: string): boolean => {
  let quote = -1;
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at + 2)) {
    if (text[at + 1] === "u" && (text[at + 2] === "d" || text[at + 2] === "D")) return true;
    if (quote >= at + 2) continue; // The quote that follows was looked at already.
    quote = text.indexOf('"', at + 2);
    if (quote === -1) return false;
    if (colonFollows(text, quote + 1)) return true;
  }
  return false;
};

/**
 * Whether the engine may read the text inexactly. An escape in a key is the engine's fault: V8 12.8 and later may give
 * a key that it read before instead (nodejs/node#63785).
 */
const needsCare = (text: string): boolean => mayHoldLongInteger(text) || hasRiskyEscape(text) || !text.isWellFormed();

/** How deep a native value is looked at; a deeper one is left to a parser that needs no stack. */
const nativeDepth = 512;

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

const itemsKeepWithin = (items: readonly unknown[], depth: number, keys: number): boolean => {
  for (let i = 0; i < items.length; i++) if (!keepsWithin(items[i], depth, keys)) return false;
  return true;
};

const entriesKeepWithin = (object: object, depth: number, keys: number): boolean => {
  let count = 0;
  // oxlint-disable-next-line guard-for-in -- the engine's own parse gives plain objects
  for (const key in object) {
    if (!keepsWithin((object as JsonObject)[key], depth, keys)) return false;
    count += 1;
  }
  return count <= keys;
};

/** Whether a value keeps within `depth` levels, its objects within `keys`, and its numbers within range. */
const keepsWithin = (value: unknown, depth: number, keys: number): boolean => {
  if (!isContainer(value)) return value !== Infinity && value !== -Infinity;
  if (depth === 0) return false;
  return Array.isArray(value) ? itemsKeepWithin(value, depth - 1, keys) : entriesKeepWithin(value, depth - 1, keys);
};

/** An exponent of three digits: without one no number that the engine reads exactly is out of range. */
const largeExponent = /\d[eE]\+?\d{3}/;

/** A level takes two characters and a key four: a short text can't break a limit, and need not be looked through. */
const isHarmless = (text: string, depth: number, keys: number): boolean =>
  text.length < 2 * depth && text.length < 4 * keys && !largeExponent.test(text);

/** What the engine makes of the text, where that is exact; but a number out of range is infinite. */
export const parseExactly = (text: string): Json | undefined => {
  if (needsCare(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // The other parser finds out what is wrong, and says where.
  }
};

/** As `parseExactly`, where the value is within limits as well. */
export const parseNatively = (text: string, limits: Limits): Json | undefined => {
  const value = parseExactly(text);
  if (value === undefined) return undefined;
  const depth = Math.min(limits.depth, nativeDepth);
  return isHarmless(text, depth, limits.keys) || keepsWithin(value, depth, limits.keys) ? value : undefined;
};
