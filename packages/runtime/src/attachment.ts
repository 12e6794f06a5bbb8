/** Where the bytes of attachments are kept. The same bytes are the same attachment, whoever puts them. */
import { AttachmentCreateMeta, type AttachmentRef, describe, read } from "@pawl/tool-value";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "./error.ts";

/** What a host fills in: durable where its journal is. */
export interface AttachmentStore {
  /** Keeps the bytes under their id; resolves when they are as durable as they get. */
  readonly put: (id: string, bytes: Uint8Array) => Promise<void>;
  readonly bytes: (id: string) => Promise<Uint8Array | undefined>;
}

/** A store that forgets with its process. */
export const memoryAttachments = (): AttachmentStore => {
  const kept = new Map<string, Uint8Array>();
  return {
    put: async (id, bytes) => void kept.set(id, bytes.slice()),
    bytes: async (id) => kept.get(id),
  };
};

/** Stores bytes, and gives what stands for them in values. */
export const putAttachment = async (
  store: AttachmentStore,
  bytes: Uint8Array,
  meta: AttachmentCreateMeta,
): Promise<AttachmentRef> => {
  const checked = read(AttachmentCreateMeta, meta);
  if (E.isLeft(checked))
    throw new EffectError("attachment_meta", `what is said of the bytes: ${describe(checked.left)}`);
  const id = bytesToHex(sha256(bytes));
  await store.put(id, bytes);
  const { media_type, ...size } = checked.right;
  return { id, media_type, byte_len: bytes.length, ...size };
};
