/**
 * Decides when the engine's own JSON.parse may be used. It is several times faster than a parser in JavaScript, but rounds
 * long integers, accepts lone surrogates, and overflows to infinity. Cheap scans of the text exclude these cases; what
 * they cannot exclude goes to the exact parser.
 */
import type { Json, JsonObject } from "./json.ts";
import type { Limits } from "./limits.ts";

/** Integers with fewer digits are in the safe range. */
const longDigits = 16;
const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const isSpace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;

/** Comma, minus, colon, bracket: a number follows one of these or space. Other digits, as in hashes, are in strings. */
const beforeNumber: ReadonlySet<number> = new Set([0x2c, 0x2d, 0x3a, 0x5b]);
const mayBeginAt = (text: string, start: number): boolean => {
  const unit = text.charCodeAt(start - 1);
  return start === 0 || beforeNumber.has(unit) || isSpace(unit);
};

/**
 * Tells whether the text may contain an integer beyond the safe range: 16 digits in a row, where a number may begin.
 * Probes every 16th character, since every such row covers one of them.
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

/** Tells whether an escape may be half a surrogate pair or is in a key, that is, a colon follows the next quote. */
const hasRiskyEscape = (text: string): boolean => {
  let quote = -1;
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at + 2)) {
    if (text[at + 1] === "u" && (text[at + 2] === "d" || text[at + 2] === "D")) return true;
    if (quote >= at + 2) continue; // The next quote was checked before.
    quote = text.indexOf('"', at + 2);
    if (quote === -1) return false;
    if (colonFollows(text, quote + 1)) return true;
  }
  return false;
};

/**
 * Tells whether the engine might read the text inexactly. Escapes in keys count because of a bug: V8 12.8 and later may
 * return a key that it read earlier instead (nodejs/node#63785).
 */
const needsCare = (text: string): boolean => mayHoldLongInteger(text) || hasRiskyEscape(text) || !text.isWellFormed();

/** Bounds the recursion; the exact parser, which needs no call stack, takes deeper text. */
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

/** Tells whether a value has at most `depth` levels and `keys` keys in each object, and no infinite number. */
const keepsWithin = (value: unknown, depth: number, keys: number): boolean => {
  if (!isContainer(value)) return value !== Infinity && value !== -Infinity;
  if (depth === 0) return false;
  return Array.isArray(value) ? itemsKeepWithin(value, depth - 1, keys) : entriesKeepWithin(value, depth - 1, keys);
};

/** An exponent of three digits. Every number out of range has one, since long integers were excluded before. */
const largeExponent = /\d[eE]\+?\d{3}/;

/** Tells whether a text is too short to pass a limit: a level takes two characters and a key four. */
const isHarmless = (text: string, depth: number, keys: number): boolean =>
  text.length < 2 * depth && text.length < 4 * keys && !largeExponent.test(text);

/** Parses natively where that is exact, but for numbers out of range, which become infinite; undefined elsewhere. */
export const parseExactly = (text: string): Json | undefined => {
  if (needsCare(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // The exact parser reports what is wrong, and where.
  }
};

/** Parses natively where that is exact and the value is within limits; returns undefined elsewhere. */
export const parseNatively = (text: string, limits: Limits): Json | undefined => {
  const value = parseExactly(text);
  if (value === undefined) return undefined;
  const depth = Math.min(limits.depth, nativeDepth);
  return isHarmless(text, depth, limits.keys) || keepsWithin(value, depth, limits.keys) ? value : undefined;
};
