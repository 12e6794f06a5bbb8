/**
 * The second line of a log whose base is not 0: what retention left of the lines before. It holds the chain over them,
 * the state after them, and those of them that the state still refers to for their values.
 */
import { type Codec, type Json, array, json, read, record, string, stringifyRecord, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { State } from "../kernel/vocabulary.ts";
import { type LineFault, lineFault } from "./fault.ts";
import { type Header, type Recorded, recordedOf } from "./format.ts";
import { restore } from "../snapshot/restore.ts";

export interface Segment {
  /** The sequence of the last line that is in the snapshot. */
  readonly base: number;
  /** The chain over all appends up to it. */
  readonly hash: string;
  readonly snapshot: Json;
  /** Lines up to the base whose values the state refers to. */
  readonly kept: readonly Json[];
}

/** A segment with what it holds. */
export interface Base {
  readonly segment: Segment;
  readonly state: State;
  readonly kept: readonly Recorded[];
}

const SegmentCodec: Codec<Segment> = record<Segment>("a segment line", {
  base: u64,
  hash: string,
  snapshot: json,
  kept: array(json),
});

/** Writes the line that stands for what retention deleted. */
export const segmentLine = (segment: Segment): string => `${stringifyRecord(SegmentCodec.encode(segment))}\n`;

export const isSegment = (line: Json | undefined): line is Json =>
  typeof line === "object" && line !== null && Object.hasOwn(line, "snapshot");

const keptOf = ({ kept, base }: Segment, line: number): E.Either<LineFault, readonly Recorded[]> => {
  const records: Recorded[] = [];
  for (const [i, one] of kept.entries()) {
    const recorded = recordedOf(one);
    if (E.isLeft(recorded)) {
      const { message, path } = recorded.left;
      return E.left(lineFault("segment_invalid", message, { line, path: ["kept", i, ...path] }));
    }
    const before = records.at(-1)?.seq ?? 0;
    const { seq } = recorded.right;
    if (seq <= before || seq > base) {
      const message = `expected sequences from ${before + 1} to ${base} in their order, found ${seq}`;
      return E.left(lineFault("segment_invalid", message, { line, path: ["kept", i, "seq"] }));
    }
    records.push(recorded.right);
  }
  return E.right(records);
};

const problemOf = ({ base, scope }: Header, segment: Segment, state: State): string | undefined => {
  if (segment.base !== base) return `expected base ${base}, as in the header, found ${segment.base}`;
  if (state.seq !== base) return `expected a snapshot of sequence ${base}, found one of ${state.seq}`;
  return state.scope.id === scope
    ? undefined
    : `expected a snapshot of \`${scope}\`, found one of \`${state.scope.id}\``;
};

/** Reads a segment line that fits its header. */
export const segmentOf = (header: Header, found: Json, line: number): E.Either<LineFault, Base> => {
  const segment = read(SegmentCodec, found);
  if (E.isLeft(segment)) {
    const { message, path } = segment.left;
    return E.left(lineFault("segment_invalid", message, { line, path }));
  }
  const state = restore(segment.right.snapshot);
  if (E.isLeft(state)) {
    const { code, message, path } = state.left;
    const isNewer = code === "newer_protocol";
    return E.left(lineFault(isNewer ? code : "segment_invalid", message, { line, path: ["snapshot", ...path] }));
  }
  const problem = problemOf(header, segment.right, state.right);
  if (problem !== undefined) return E.left(lineFault("segment_invalid", problem, { line }));
  const kept = keptOf(segment.right, line);
  return E.isLeft(kept) ? kept : E.right({ segment: segment.right, state: state.right, kept: kept.right });
};

// An exported log brings blobs and attachments along: a line for each, between its beginning and its first event.

/** The bytes as their store has them, in base64, and the name that references give them. */
export interface PackedBlob {
  readonly blob: string;
  readonly bytes: string;
}

export const PackedBlob: Codec<PackedBlob> = record<PackedBlob>("a blob line", { blob: string, bytes: string });

/** Writes a large value as a line of an exported log. */
export const blobLine = (packed: PackedBlob): string => `${stringifyRecord(PackedBlob.encode(packed))}\n`;

const packedOf = <A>(codec: Codec<A>, name: keyof A & string, line: Json | undefined): A | undefined => {
  if (typeof line !== "object" || line === null || !Object.hasOwn(line, name)) return undefined;
  const packed = read(codec, line);
  return E.isRight(packed) ? packed.right : undefined;
};

/** Reads a blob line; any other line is a record, or invalid. */
export const blobOf = (line: Json | undefined): PackedBlob | undefined => packedOf(PackedBlob, "blob", line);

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

/** Reads an attachment line; any other line is a record, or invalid. */
export const attachmentOf = (line: Json | undefined): PackedAttachment | undefined =>
  packedOf(PackedAttachment, "attachment", line);
