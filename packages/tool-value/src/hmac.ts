/** HMAC (RFC 2104) and HKDF (RFC 5869), both over SHA-256. */
import { sha256 } from "@noble/hashes/sha2.js";

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

export const hmac = (key: Uint8Array, message: Uint8Array): Uint8Array => {
  const block = new Uint8Array(blockBytes);
  block.set(key.length > blockBytes ? sha256(key) : key);
  const padded = (pad: number): Uint8Array => block.map((byte) => byte ^ pad);
  return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), message))));
};

/** So many bytes of key, derived from a secret for one purpose. */
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
