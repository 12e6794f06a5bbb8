/** Blobs that an exported log brings along: a line each, between what a log begins with and its first event. */
import { type Codec, type Json, read, record, string, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** The bytes as their store has them, in base64, and the name that references give them. */
export interface PackedBlob {
  readonly blob: string;
  readonly bytes: string;
}

export const PackedBlob: Codec<PackedBlob> = record<PackedBlob>("a blob line", { blob: string, bytes: string });

export const blobLine = (packed: PackedBlob): string => `${stringifyRecord(PackedBlob.encode(packed))}\n`;

/** What is no blob is a record, or wrong. */
export const blobOf = (line: Json | undefined): PackedBlob | undefined => {
  if (typeof line !== "object" || line === null || !Object.hasOwn(line, "blob")) return undefined;
  const packed = read(PackedBlob, line);
  return E.isRight(packed) ? packed.right : undefined;
};
