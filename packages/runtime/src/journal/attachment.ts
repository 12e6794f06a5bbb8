/** Where the bytes of attachments are kept. The same bytes are the same attachment, whoever puts them. */
import { AttachmentCreateMeta, type AttachmentRef, describe, read } from "@pawl/tool-value";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { EffectError } from "../error.ts";

/** What a host fills in: durable where its journal is. */
export interface AttachmentStore {
  /** Keeps the bytes under their id; resolves when they are as durable as they get. */
  readonly put: (id: string, bytes: Uint8Array) => Promise<void>;
  readonly bytes: (id: string) => Promise<Uint8Array | undefined>;
  /** The hosts that scopes move to read the same store: bytes stay in it, and do not travel. */
  readonly isShared?: boolean;
}

const gibibyte = 1024 ** 3;

/**
 * A store that forgets with its process, and nothing before: what a log names may be asked for at any time. So it takes
 * no more than its bound, and what does not fit is refused.
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

/** Stores bytes, and gives what stands for them in values. */
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

/** Under what bytes are kept: their hash. */
export const attachmentId = (bytes: Uint8Array): string => bytesToHex(sha256(bytes));
