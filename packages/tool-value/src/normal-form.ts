/** Whether JSON that a parser has just made is in normal form already: what `normalize` would only copy. */
import { type Json, type JsonObject, isBefore } from "./json.ts";

/** How deep JSON is looked at; what is deeper is left to `normalize`, which needs no stack. */
const lookedAt = 512;

/** Integers in the safe range, and what has a fraction or an exponent. The normal form of -0 is 0. */
const isNormalNumber = (n: number): boolean => {
  if (!Number.isInteger(n)) return Number.isFinite(n);
  return Number.isSafeInteger(n) ? n !== 0 || 1 / n > 0 : n >= 1e21 || n <= -1e21;
};

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

export const isNormal = (json: unknown): json is Json => isNormalItem(json, lookedAt);
