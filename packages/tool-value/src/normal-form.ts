/**
 * The normal form of values: what reading a value's canonical text gives back.
 *
 *   Keys are in UTF-16 code unit order.
 *   Integers within ±(2^53 - 1) are numbers, larger ones bigints. -0 becomes 0.
 *   Other numbers are finite. From 1e21 on, ECMAScript writes a number with an exponent, so it reads back as a number.
 *   Strings and keys have no lone surrogates.
 *
 * `normalize` brings any input into normal form. `isNormal` recognizes JSON that has it already and need not be copied.
 */
import { type Json, type JsonObject, isBefore } from "./json.ts";

/** Numbers at least as large are written with an exponent, and so are not integer literals. */
const firstExponent = 1e21;

/** Converts through the number's text, which has its shortest digits: 2 ** 60 ends in 7000, and BigInt(2 ** 60) in 6976. */
const normalInteger = (n: number): number | bigint => {
  if (n === 0) return 0;
  return n > Number.MAX_SAFE_INTEGER || n < -Number.MAX_SAFE_INTEGER ? BigInt(`${n}`) : n;
};

/** Returns the normal form of a number, or undefined for NaN and the infinities. */
export const normalNumber = (n: number): number | bigint | undefined => {
  if ((n | 0) === n && n !== 0) return n;
  if (!Number.isFinite(n)) return undefined;
  return Number.isInteger(n) && n < firstExponent && n > -firstExponent ? normalInteger(n) : n;
};

const isNormalNumber = (n: number): boolean => {
  if (!Number.isInteger(n)) return Number.isFinite(n);
  return Number.isSafeInteger(n) ? n !== 0 || 1 / n > 0 : n >= firstExponent || n <= -firstExponent;
};

/** Bounds the recursion; `normalize`, which needs no call stack, takes deeper JSON. */
const nativeDepth = 512;

const isNormalItem = (item: unknown, depth: number): boolean => {
  switch (typeof item) {
    case "string":
      return item.isWellFormed();
    case "boolean":
      return true;
    case "number":
      return isNormalNumber(item);
    default:
      return item === null || (typeof item === "object" && depth > 0 && isNormalContainer(item, depth - 1));
  }
};

const isNormalContainer = (container: object, depth: number): boolean => {
  if (Array.isArray(container)) {
    for (let i = 0; i < container.length; i++) if (!isNormalItem(container[i], depth)) return false;
    return true;
  }
  let last: string | undefined;
  // oxlint-disable-next-line guard-for-in -- a parser gives plain objects
  for (const key in container) {
    const isInOrder = last === undefined || isBefore(last, key);
    if (!isInOrder || !key.isWellFormed() || !isNormalItem((container as JsonObject)[key], depth)) return false;
    last = key;
  }
  return true;
};

/** Tells whether JSON fresh from a parser is in normal form. May say no for deep JSON and for bigints. */
export const isNormal = (json: unknown): json is Json => isNormalItem(json, nativeDepth);
