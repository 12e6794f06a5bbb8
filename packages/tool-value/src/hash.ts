/** Hashes of JSON: the lowercase hex SHA-256 of the UTF-8 bytes of its canonical text. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Json } from "./json.ts";
import type { ToolValue } from "./model.ts";
import { canonicalJson, stringify } from "./write.ts";

/** UTF-8 in the language alone: an encoder is a platform's, which the core does without. */
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
        i += 1; // The second half of a pair.
        bytes[end++] = 0xf0 | (point >> 18);
        bytes[end++] = 0x80 | ((point >> 12) & 0x3f);
      }
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[end++] = 0x80 | (point & 0x3f);
  }
  return bytes.subarray(0, end);
};

/** The hash of a text that is canonical already. */
export const hashText = (text: string): string => bytesToHex(sha256(utf8(text)));

/** The stable hash of JSON. */
export const stableHash = (json: Json): string => hashText(stringify(json));

/** The stable hash of a value's encoded form. */
export const valueHash = (value: ToolValue): string => hashText(canonicalJson(value));
