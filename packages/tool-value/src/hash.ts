/** SHA-256: the hashes of JSON, which are the lowercase hex digests of its canonical text, and HMAC and HKDF. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Json } from "./json.ts";
import type { ToolValue } from "./model.ts";
import { canonicalJson, stringify } from "./write.ts";

/** Encodes UTF-8 without TextEncoder, which belongs to the platform; this package is pure. */
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(text.length * 3);
  let end = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) as number;
    if (point < 0x80) {
      bytes[end++] = point;
      continue;
    }
    if (point < 0x800) bytes[end++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x1_0000) bytes[end++] = 0xe0 | (point >> 12);
      else {
        i += 1; // Skips the second half of the surrogate pair.
        bytes[end++] = 0xf0 | (point >> 18);
        bytes[end++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[end++] = 0x80 | (point & 0x3f);
  }
  return bytes.subarray(0, end);
};

/** Returns the hash of a text that is canonical already. */
export const hashText = (text: string): string => bytesToHex(sha256(utf8(text)));

/** Returns the stable hash of JSON. */
export const stableHash = (json: Json): string => hashText(stringify(json));

/** Returns the stable hash of a value's encoded form. */
export const valueHash = (value: ToolValue): string => hashText(canonicalJson(value));

const blockBytes = 64;

const joined = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** Computes HMAC-SHA-256 (RFC 2104). */
export const hmac = (key: Uint8Array, message: Uint8Array): Uint8Array => {
  const block = new Uint8Array(blockBytes);
  block.set(key.length > blockBytes ? sha256(key) : key);
  const padded = (pad: number): Uint8Array => block.map((byte) => byte ^ pad);
  return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), message))));
};

/** Derives a key of `length` bytes from a secret by HKDF-SHA-256 (RFC 5869). `info` names its purpose. */
export const hkdf = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Uint8Array => {
  const pseudorandom = hmac(salt, secret);
  let key = new Uint8Array(0);
  let last = new Uint8Array(0);
  for (let i = 1; key.length < length; i++) {
    last = new Uint8Array(hmac(pseudorandom, joined(last, info, Uint8Array.of(i))));
    key = joined(key, last);
  }
  return key.subarray(0, length);
};
