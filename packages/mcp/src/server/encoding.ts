/** Encodings: base64url with functions that every platform has, and JSON for a library that knows no big integers. */
import { type Json, isObject } from "@pawl/tool-value";

/** Encodes bytes in the plain alphabet of base64, as content blocks have them. */
export const plainBase64Of = (bytes: Uint8Array): string => {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
};

/** Encodes bytes in the alphabet of base64url. */
export const base64Of = (bytes: Uint8Array): string =>
  plainBase64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Decodes base64, of either alphabet. Throws if it is none. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

/** Compares in a time that does not tell where the first difference is. */
export const isSameText = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
};

const { rawJSON } = JSON as unknown as { readonly rawJSON?: (text: string) => object };

/** Converts JSON for `JSON.stringify`: integers beyond the safe range become raw digits. */
export const forStringify = (json: Json): unknown => {
  if (typeof json === "bigint") return rawJSON?.(`${json}`) ?? Number(json);
  if (Array.isArray(json)) return json.map(forStringify);
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, forStringify(value)]));
};
