/** Whether a log brings along what it names, as it is. */
import { BlobMissing, linesIn, namesIn, unpacked, unpackedAttachment } from "@pawl/runtime";
import { attachmentOf, blobOf } from "@pawl/sansio-core";
import { hashText, parseRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { LogSource } from "../place.ts";

export interface BlobFaults {
  readonly missing: readonly string[];
  readonly corrupt: readonly string[];
  /** Attachments that are not what their names say. */
  readonly attachments: readonly string[];
}

export const isAttachmentLine = (line: string): boolean => line.startsWith('{"attachment":');

/** The attachment that a line brings along, if its bytes are others. */
const falseAttachment = (line: string): readonly string[] => {
  const json = parseRecord(line);
  const packed = E.isRight(json) ? attachmentOf(json.right) : undefined;
  return packed === undefined || unpackedAttachment(packed) !== undefined ? [] : [packed.attachment];
};

const isTrue = (line: string, corrupt: string[]): string | undefined => {
  const json = parseRecord(line);
  const packed = E.isRight(json) ? blobOf(json.right) : undefined;
  if (packed === undefined) return undefined;
  try {
    unpacked(packed, "", hashText);
  } catch (thrown) {
    if (!(thrown instanceof BlobMissing)) throw thrown;
    corrupt.push(packed.blob);
  }
  return packed.blob;
};

export const blobFaults = async ({ text }: LogSource): Promise<BlobFaults> => {
  const [named, packed, corrupt] = [new Set<string>(), new Set<string>(), [] as string[]];
  const attachments: string[] = [];
  for (const line of linesIn(await text())) {
    if (isAttachmentLine(line)) attachments.push(...falseAttachment(line));
    const blob = line.startsWith('{"blob":') ? isTrue(line, corrupt) : undefined;
    if (blob !== undefined) packed.add(blob);
    else for (const name of namesIn(line)) named.add(name);
  }
  return { missing: [...named].filter((name) => !packed.has(name)), corrupt, attachments };
};
