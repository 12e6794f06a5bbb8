/**
 * Blobs: the texts of large values, kept beside the log. What is recorded of such a value is a reference, which is an
 * attachment of a media type that nothing else has:
 *
 *   {"$lash_tool_value":"attachment","ref":{"byte_len":70000,"id":"blob:9f86…","media_type":{…}}}
 */
import { type AttachmentRef, type Json, attachment, encode, isAttachment } from "@pawl/tool-value";
import { isObject } from "../json.ts";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import { base64Of, bytesOf } from "./base64.ts";

/** The port that a store of blobs fills. Bytes are never changed under their name. */
export interface BlobStore {
  /**
   * Keeps bytes under a name; durable when it resolves. Where they are there already they count as just put, and are
   * spared by whoever removes what is old.
   */
  readonly put: (scope: string, name: string, bytes: Uint8Array) => Promise<void>;
  readonly read: (scope: string, name: string) => Promise<Uint8Array | undefined>;
  /** Names of all that were last put at least so many milliseconds ago, by the store's clock. */
  readonly old: (ms: number) => Promise<readonly string[]>;
  /** Removes what was last put at least so long ago; says whether it did. What is put meanwhile stays. */
  readonly remove: (name: string, ms: number) => Promise<boolean>;
  /**
   * Of a store that several processes share: whether the caller is the one to sweep it now. It is for nobody else for so
   * long, by the store's clock; the first who asks begins the count.
   */
  readonly turn?: (everyMs: number) => Promise<boolean>;
  /** Of a store whose names must not say what they stand for: another one each time. */
  readonly fresh?: () => string;
}

/** A store of blobs, as far as it is read. */
export type BlobReader = Pick<BlobStore, "read">;

export interface MemoryBlobsOptions {
  readonly now?: () => number;
}

/** A store that forgets with its process. */
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

/** Stands in the text of everything that holds a reference, or looks like one. */
const mark = `"type":"${mediaType}"`;
/** Begins with a letter that texts have seldom: looked for first, since a quote stands everywhere. */
const rareMark = mediaType.slice(mediaType.indexOf("vnd.pawl"));
export const isMarked = (text: string): boolean => text.includes(rareMark) && text.includes(mark);

/** What is recorded in the place of a value. */
export const referenceTo = (name: string, bytes: number): Json =>
  encode(attachment({ id: prefix + name, media_type: { kind: "file", type: mediaType }, byte_len: bytes }));

/** With what the bytes of a sealed blob begin: no text does. */
const sealedByte = 1;
export const isSealedBlob = (bytes: Uint8Array): boolean => bytes[0] === sealedByte;

/** What a name ends in that is no hash. */
export const freshEnd = "0".repeat(16);
/** Returns whether a blob is named by the hash of its text; blobs of sealed scopes have fresh names. */
export const isHash = (name: string): boolean => !name.endsWith(freshEnd);

const named = /"id":"blob:([0-9a-f]{64})"/g;
/** The blobs that a text names: of lines and snapshots, as they are stored. */
export const namesIn = (text: string): readonly string[] => [...text.matchAll(named)].map(([, name]) => name as string);

const isOfOurs = (ref: unknown): ref is AttachmentRef =>
  isObject(ref) && isObject(ref["media_type"]) && ref["media_type"]["type"] === mediaType;

/** The blob that stands here: in a value, or in its encoded form. */
export const blobAt = (u: unknown): { readonly name: string; readonly isEncoded: boolean } | undefined => {
  const isDecoded = isAttachment(u);
  const ref = isDecoded ? u.ref : isObject(u) ? u["ref"] : undefined;
  if (!isOfOurs(ref) || typeof ref.id !== "string" || !ref.id.startsWith(prefix)) return undefined;
  return { name: ref.id.slice(prefix.length), isEncoded: !isDecoded };
};

/** A blob that a log names, and that can not be had. */
export class BlobMissing extends Error {
  override readonly name = "BlobMissing";
  readonly code: "blob_missing" | "blob_corrupt";
  constructor(code: BlobMissing["code"], scope: string, blob: string) {
    const what = code === "blob_missing" ? "is not in its store" : "is not what its name says";
    super(`${scope}: blob ${blob} ${what}: restore the store of blobs that belongs to this journal`);
    this.code = code;
  }
}

/** The blobs that these texts name, in the order in which they are named first. What is missing is left out. */
export const packBlobs = async (
  blobs: BlobReader | undefined,
  scope: string,
  texts: Iterable<string>,
): Promise<readonly PackedBlob[]> => {
  const names = new Set<string>();
  for (const text of texts) for (const name of namesIn(text)) names.add(name);
  return packNamed(blobs, scope, names);
};

/** Blobs by their names. What is missing is left out. */
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

/** A blob that these texts name, and that does not travel with them. */
export const leftBehind = (texts: Iterable<string>, packed: readonly PackedBlob[]): string | undefined => {
  const along = new Set(packed.map(({ blob }) => blob));
  for (const text of texts) for (const name of namesIn(text)) if (!along.has(name)) return name;
  return undefined;
};

/** The bytes, if they are what their name says; those that are sealed say it only to who has their key. */
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

/** Takes blobs into a store, before the log that names them. */
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
