/**
 * Bytes and texts that are kept beside the log. Blobs are the texts of large values. The log has a reference in the place of
 * such a value, which is an attachment of a media type of its own:
 *
 *   {"$lash_tool_value":"attachment","ref":{"byte_len":70000,"id":"blob:9f86…","media_type":{…}}}
 *
 * Attachments are content-addressed bytes that tools store. Equal bytes are one attachment.
 */
import {
  type AttachmentRef,
  type Json,
  attachment,
  encode,
  isAttachment,
  isObject,
  AttachmentCreateMeta,
  describe,
  read,
} from "@pawl/tool-value";
import { base64Of, bytesOf } from "../encoding.ts";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";

/** The port that a store of blobs implements. The bytes of a name never change. */
export interface BlobStore {
  /**
   * Keeps bytes under a name. Resolves once they are durable. Bytes that exist already count as just put, so that a sweep
   * spares them.
   */
  readonly put: (scope: string, name: string, bytes: Uint8Array) => Promise<void>;
  readonly read: (scope: string, name: string) => Promise<Uint8Array | undefined>;
  /** Lists the blobs that were last put at least `ms` ago, by the store's clock. */
  readonly old: (ms: number) => Promise<readonly string[]>;
  /** Removes a blob that was last put at least `ms` ago, and returns whether it did. A blob put meanwhile stays. */
  readonly remove: (name: string, ms: number) => Promise<boolean>;
  /**
   * Elects a sweeper among processes that share the store: returns true once in each period, by the store's clock. The first
   * call starts the period.
   */
  readonly turn?: (everyMs: number) => Promise<boolean>;
  /** Makes a random name, in a store whose names must not tell the contents. */
  readonly fresh?: () => string;
}

/** The reading half of a store of blobs. */
export type BlobReader = Pick<BlobStore, "read">;

export interface MemoryBlobsOptions {
  readonly now?: () => number;
}

/** Makes a store in memory. */
export const memoryBlobs = ({ now = Date.now }: MemoryBlobsOptions = {}): BlobStore => {
  const kept = new Map<string, { readonly bytes: Uint8Array; readonly at: number }>();
  const isOld = (name: string, ms: number): boolean => (kept.get(name)?.at ?? Infinity) <= now() - ms;
  return {
    put: async (_scope, name, bytes) => void kept.set(name, { bytes: bytes.slice(), at: now() }),
    read: async (_scope, name) => kept.get(name)?.bytes.slice(),
    old: async (ms) => [...kept.keys()].filter((name) => isOld(name, ms)),
    remove: async (name, ms) => isOld(name, ms) && kept.delete(name),
  };
};

const mediaType = "application/vnd.pawl.value+json";
const prefix = "blob:";

/** Occurs in the text of every value that holds a reference. */
const mark = `"type":"${mediaType}"`;
/** Begins with a rare letter, and is searched first: `mark` begins with a quote, which is everywhere. */
const rareMark = mediaType.slice(mediaType.indexOf("vnd.pawl"));
export const isMarked = (text: string): boolean => text.includes(rareMark) && text.includes(mark);

/** Makes the reference that is recorded in the place of a value. */
export const referenceTo = (name: string, bytes: number): Json =>
  encode(attachment({ id: prefix + name, media_type: { kind: "file", type: mediaType }, byte_len: bytes }));

/** The first byte of a sealed blob. No text begins with it. */
const sealedByte = 1;
export const isSealedBlob = (bytes: Uint8Array): boolean => bytes[0] === sealedByte;

/** The end of random names, by which they differ from hashes. */
export const freshEnd = "0".repeat(16);
/** Returns whether a blob is named by the hash of its text; blobs of sealed scopes have fresh names. */
export const isHash = (name: string): boolean => !name.endsWith(freshEnd);

const named = /"id":"blob:([0-9a-f]{64})"/g;
/** Lists the blobs that a stored line or snapshot names. */
export const namesIn = (text: string): readonly string[] => [...text.matchAll(named)].map(([, name]) => name as string);

const isOfOurs = (ref: unknown): ref is AttachmentRef =>
  isObject(ref) && isObject(ref["media_type"]) && ref["media_type"]["type"] === mediaType;

/** Recognises a reference, as a value or in its encoded form. */
export const blobAt = (u: unknown): { readonly name: string; readonly isEncoded: boolean } | undefined => {
  const isDecoded = isAttachment(u);
  const ref = isDecoded ? u.ref : isObject(u) ? u["ref"] : undefined;
  if (!isOfOurs(ref) || typeof ref.id !== "string" || !ref.id.startsWith(prefix)) return undefined;
  return { name: ref.id.slice(prefix.length), isEncoded: !isDecoded };
};

/** A blob that a log names is missing or damaged. */
export class BlobMissing extends Error {
  override readonly name = "BlobMissing";
  readonly code: "blob_missing" | "blob_corrupt";
  constructor(code: BlobMissing["code"], scope: string, blob: string) {
    const what = code === "blob_missing" ? "is not in its store" : "is not what its name says";
    super(`${scope}: blob ${blob} ${what}: restore the store of blobs that belongs to this journal`);
    this.code = code;
  }
}

/** Packs the blobs that texts name, in the order of their first mention, to travel with the log. Missing ones are left out. */
export const packBlobs = async (
  blobs: BlobReader | undefined,
  scope: string,
  texts: Iterable<string>,
): Promise<readonly PackedBlob[]> => {
  const names = new Set<string>();
  for (const text of texts) for (const name of namesIn(text)) names.add(name);
  return packNamed(blobs, scope, names);
};

/** Packs blobs by name. Missing ones are left out. */
export const packNamed = async (
  blobs: BlobReader | undefined,
  scope: string,
  names: Iterable<string>,
): Promise<readonly PackedBlob[]> => {
  const packed: PackedBlob[] = [];
  if (blobs === undefined) return packed;
  for (const name of names) {
    const bytes = await blobs.read(scope, name);
    if (bytes !== undefined) packed.push({ blob: name, bytes: base64Of(bytes) });
  }
  return packed;
};

/** Finds a blob that texts name and that is not packed with them. */
export const leftBehind = (texts: Iterable<string>, packed: readonly PackedBlob[]): string | undefined => {
  const along = new Set(packed.map(({ blob }) => blob));
  for (const text of texts) for (const name of namesIn(text)) if (!along.has(name)) return name;
  return undefined;
};

/** Returns the bytes of a packed blob after a check against its hash. Sealed bytes are not checked, which needs their key. */
export const unpacked = (
  { blob, bytes }: PackedBlob,
  scope: string,
  hashText: (text: string) => string,
): Uint8Array => {
  const found = bytesOf(bytes);
  if (isHash(blob) && !isSealedBlob(found) && hashText(new TextDecoder().decode(found)) !== blob)
    throw new BlobMissing("blob_corrupt", scope, blob);
  return found;
};

/** Puts packed blobs into a store. Call it before the log that names them is written. */
export const unpackBlobs = async (
  blobs: BlobStore | undefined,
  scope: string,
  packed: readonly PackedBlob[],
  hashText: (text: string) => string,
): Promise<void> => {
  for (const one of packed) {
    if (blobs === undefined) throw new BlobMissing("blob_missing", scope, one.blob);
    await blobs.put(scope, one.blob, unpacked(one, scope, hashText));
  }
};

/** The port that a host implements. It must be durable if the journal is. */
export interface AttachmentStore {
  /** Keeps bytes under their id. Resolves once they are durable. */
  readonly put: (id: string, bytes: Uint8Array) => Promise<void>;
  readonly bytes: (id: string) => Promise<Uint8Array | undefined>;
  /** Says that all hosts read this store: bytes do not travel with a scope that moves. */
  readonly isShared?: boolean;
}

const gibibyte = 1024 ** 3;

/**
 * Makes a store in memory. It removes nothing, since a log may ask for its attachments at any time; beyond its bound it refuses
 * more bytes.
 */
export const memoryAttachments = (mostBytes = gibibyte): AttachmentStore => {
  const kept = new Map<string, Uint8Array>();
  let size = 0;
  return {
    put: async (id, bytes) => {
      if (kept.has(id)) return;
      if (size + bytes.length > mostBytes) throw noRoom(bytes.length, size, mostBytes);
      kept.set(id, bytes.slice());
      size += bytes.length;
    },
    bytes: async (id) => kept.get(id),
  };
};

const noRoom = (more: number, size: number, mostBytes: number): EffectError => {
  const held = `attachments in memory take ${size} of at most ${mostBytes} bytes, and ${more} more do not fit`;
  return new EffectError("attachments_full", `${held}: let the host keep them (\`host.attachments\`)`);
};

/** Stores bytes, and returns the reference that stands for them in values. */
export const putAttachment = async (
  store: AttachmentStore,
  bytes: Uint8Array,
  meta: AttachmentCreateMeta,
): Promise<AttachmentRef> => {
  const checked = read(AttachmentCreateMeta, meta);
  if (E.isLeft(checked))
    throw new EffectError("attachment_meta", `what is said of the bytes: ${describe(checked.left)}`);
  const id = attachmentId(bytes);
  await store.put(id, bytes);
  const { media_type, ...size } = checked.right;
  return { id, media_type, byte_len: bytes.length, ...size };
};

/** Returns the id of bytes: their SHA-256. */
export const attachmentId = (bytes: Uint8Array): string => bytesToHex(sha256(bytes));
