/** Encodings of texts: base64 with functions that every platform has, and JSON as it is read back. */
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

/** Parses a text that this program wrote, without limits, and decodes it. */
export const readText = <A>(text: string, read: (json: Json) => E.Either<ValueError, A>): E.Either<ValueError, A> => {
  const json = parse(text, noLimits);
  return E.isLeft(json) ? json : read(json.right);
};
