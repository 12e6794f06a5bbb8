/** What an exported log brings along: a line for each blob and attachment, between what a log begins with and its first event. */
import { type Codec, type Json, read, record, string, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** The bytes as their store has them, in base64, and the name that references give them. */
export interface PackedBlob {
  readonly blob: string;
  readonly bytes: string;
}

export const PackedBlob: Codec<PackedBlob> = record<PackedBlob>("a blob line", { blob: string, bytes: string });

/** Writes a large value as a line of an exported log. */
export const blobLine = (packed: PackedBlob): string => `${stringifyRecord(PackedBlob.encode(packed))}\n`;

/** What is no blob is a record, or wrong. */
export const blobOf = (line: Json | undefined): PackedBlob | undefined => {
  if (typeof line !== "object" || line === null || !Object.hasOwn(line, "blob")) return undefined;
  const packed = read(PackedBlob, line);
  return E.isRight(packed) ? packed.right : undefined;
};

/** The bytes of an attachment in base64, and what they are kept under. */
export interface PackedAttachment {
  readonly attachment: string;
  readonly bytes: string;
}

export const PackedAttachment: Codec<PackedAttachment> = record<PackedAttachment>("an attachment line", {
  attachment: string,
  bytes: string,
});

/** Writes the bytes of an attachment as a line of an exported log. */
export const attachmentLine = (packed: PackedAttachment): string =>
  `${stringifyRecord(PackedAttachment.encode(packed))}\n`;

/** What is no attachment is a record, or wrong. */
export const attachmentOf = (line: Json | undefined): PackedAttachment | undefined => {
  if (typeof line !== "object" || line === null || !Object.hasOwn(line, "attachment")) return undefined;
  const packed = read(PackedAttachment, line);
  return E.isRight(packed) ? packed.right : undefined;
};
