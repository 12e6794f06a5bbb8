/** Encodings of texts: base64 with functions that every platform has, JSON as it is read back, and lengths of time. */
import * as E from "fp-ts/lib/Either.js";
import { utf8, type Json, type ValueError, noLimits, parse } from "@pawl/tool-value";

const digits = utf8("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

/** Encodes bytes. `btoa` alone needs a text first, which takes twenty times as long. */
export const base64Of = (bytes: Uint8Array): string => {
  const whole = bytes.length - (bytes.length % 3);
  const text = new Uint8Array((whole / 3) * 4);
  for (let from = 0, to = 0; from < whole; from += 3) {
    const three = ((bytes[from] as number) << 16) | ((bytes[from + 1] as number) << 8) | (bytes[from + 2] as number);
    for (let shift = 18; shift >= 0; shift -= 6) text[to++] = digits[(three >> shift) & 63] as number;
  }
  return new TextDecoder().decode(text) + btoa(String.fromCharCode(...bytes.subarray(whole)));
};

/** Decodes a text. Throws if it is no base64. */
export const bytesOf = (base64: string): Uint8Array => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const duration = /^(?:\d+(?:\.\d+)?\s*(?:d|h|ms|m|s)\s*)+$/;

/** Reads a length of time, as `2h 30m`, in milliseconds; undefined for another text. */
export const durationMs = (text: string): number | undefined => {
  if (!duration.test(text.trim())) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|d|h|m|s)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units], 0);
};

/** Parses a text that this program wrote, without limits, and decodes it. */
export const readText = <A>(text: string, read: (json: Json) => E.Either<ValueError, A>): E.Either<ValueError, A> => {
  const json = parse(text, noLimits);
  return E.isLeft(json) ? json : read(json.right);
};
