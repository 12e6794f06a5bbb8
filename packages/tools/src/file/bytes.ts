/** Conversions between bytes and text. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

export const bytesEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Returns the hash that identifies the content of a file to a model. */
export const contentHash = (bytes: Uint8Array): string => `sha256:${bytesToHex(sha256(bytes))}`;

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOfBytes = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

export const toBase64 = (bytes: Uint8Array): string => {
  let units = "";
  for (const byte of bytes) units += String.fromCharCode(byte);
  return btoa(units);
};

/** Returns undefined if the text is not base64. */
export const fromBase64 = (text: string): Uint8Array | undefined => {
  const bare = text.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(bare) || bare.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(bare), (unit) => unit.charCodeAt(0));
};

/** Detects the encoding of a file on disk: `text` if its bytes are UTF-8 without zeros. */
export const encodingOf = (bytes: Uint8Array): "text" | "base64" => {
  if (bytes.includes(0)) return "base64";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "text";
  } catch {
    return "base64";
  }
};
