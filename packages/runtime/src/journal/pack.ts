/** Blobs that travel with the log that names them: in an export, or with a scope that moves. */
import type { PackedBlob } from "@pawl/sansio-core/driver";
import { base64Of, bytesOf } from "./base64.ts";
import { BlobMissing, type BlobReader, type BlobStore, isHash, isSealedBlob, namesIn } from "./blob.ts";

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
