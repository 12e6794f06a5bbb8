/** Attachments: content-addressed bytes, kept beside the log. Equal bytes are one attachment. */
import { AttachmentCreateMeta, type AttachmentRef, describe, read } from "@pawl/tool-value";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";

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
