/**
 * Attachments that travel with a scope that moves, or with an export: those that its log names by their hash. An attachment
 * that is missing from the store, or does not match its name, stays behind: it could not be read at the target either. The
 * target stores attachments before any line that names them.
 */
import type { PackedAttachment, PackedBlob } from "@pawl/sansio-core/driver";
import { type AttachmentStore, attachmentId } from "../journal/blob.ts";
import { base64Of, bytesOf } from "../encoding.ts";
import { Refused } from "../error.ts";
import type { Fault } from "../scope/offload.ts";

/** The most bytes that a scope may bring along; as text, a third of what a target has room for. */
const mostBytes = 64 * 1024 * 1024;

/** Matches hashes, except those of requests, effects and large values. */
const named = /(?<!hash":"|blob:)\b[0-9a-f]{64}\b/g;

/** The stored texts of a scope in which attachments may be named. */
interface ScopeTexts {
  readonly scope: string;
  /** Lines, messages, and the snapshot. */
  readonly texts: readonly string[];
  /** Large values that these texts name. */
  readonly blobs: readonly PackedBlob[];
}

const namesIn = ({ texts, blobs }: ScopeTexts): ReadonlySet<string> => {
  const names = new Set<string>();
  const look = (text: string): void => {
    for (const [name] of text.matchAll(named)) names.add(name);
  };
  for (const text of texts) look(text);
  for (const { bytes } of blobs) look(new TextDecoder().decode(bytesOf(bytes)));
  return names;
};

const readFrom = async (store: AttachmentStore, name: string, fault: Fault): Promise<Uint8Array | undefined> => {
  try {
    return await store.bytes(name);
  } catch (thrown) {
    fault(`attachment ${name} was not read`, thrown);
    throw new Refused("attachment_not_read", `the store of attachments failed to give ${name}: nothing leaves`);
  }
};

/** Yields the attachments that are named and in the store, one by one as they are read. */
export async function* attachmentsOf(
  store: AttachmentStore,
  of: ScopeTexts,
  fault: Fault,
): AsyncGenerator<readonly [name: string, bytes: Uint8Array], void> {
  for (const name of namesIn(of)) {
    const bytes = await readFrom(store, name, fault);
    if (bytes === undefined) continue;
    if (attachmentId(bytes) === name) yield [name, bytes];
    else fault(`attachment ${name} does not match its name, and stays behind`, undefined);
  }
}

export const packedAttachment = (attachment: string, bytes: Uint8Array): PackedAttachment => ({
  attachment,
  bytes: base64Of(bytes),
});

/** Returns true if attachments travel. Those of a store that all hosts share do not. */
export const travels = (store: AttachmentStore | undefined): store is AttachmentStore =>
  store !== undefined && store.isShared !== true;

/** Packs the attachments that travel; refuses a scope that has too many bytes. */
export const packAttachments = async (
  store: AttachmentStore | undefined,
  of: ScopeTexts,
  fault: Fault,
): Promise<readonly PackedAttachment[]> => {
  const packed: PackedAttachment[] = [];
  if (!travels(store)) return packed;
  let size = 0;
  for await (const [name, bytes] of attachmentsOf(store, of, fault)) {
    size += bytes.length;
    if (size > mostBytes) throw tooLarge(of.scope);
    packed.push(packedAttachment(name, bytes));
  }
  return packed;
};

const tooLarge = (scope: string): Refused =>
  new Refused(
    "too_large",
    `the attachments of ${scope} have more than ${mostBytes} bytes, which is what may travel: give both hosts one store of attachments, and say that it is shared (\`isShared\`)`,
  );

/** Returns the bytes if they match their name. */
export const unpackedAttachment = ({ attachment, bytes: text }: PackedAttachment): Uint8Array | undefined => {
  try {
    const bytes = bytesOf(text);
    return attachmentId(bytes) === attachment ? bytes : undefined;
  } catch {
    return undefined; // Not base64.
  }
};

/** Limits the puts at a time: each waits for a disk. */
const atOnce = 16;

const keep = async (
  store: AttachmentStore,
  packed: PackedAttachment,
  { scope, fault }: { readonly scope: string; readonly fault: Fault },
): Promise<Refused | undefined> => {
  const { attachment } = packed;
  const bytes = unpackedAttachment(packed);
  if (bytes === undefined)
    return new Refused("attachment_corrupt", `attachment ${attachment} of ${scope} is not what its name says`);
  try {
    await store.put(attachment, bytes);
    return undefined;
  } catch (thrown) {
    fault(`attachment ${attachment} of ${scope} was not kept`, thrown);
    return new Refused("attachment_not_kept", `the store there did not keep attachment ${attachment} of ${scope}`);
  }
};

/** Stores attachments at the target; returns the reason if one could not be stored. */
export const unpackAttachments = async (
  store: AttachmentStore | undefined,
  { scope, attachments }: { readonly scope: string; readonly attachments: readonly PackedAttachment[] },
  fault: Fault,
): Promise<Refused | undefined> => {
  if (attachments.length > 0 && store === undefined)
    fault(`attachments of ${scope} were not kept: there is no store for them here`, undefined);
  if (store === undefined) return undefined;
  for (let from = 0; from < attachments.length; from += atOnce) {
    const some = attachments.slice(from, from + atOnce);
    const results = await Promise.all(some.map((packed) => keep(store, packed, { scope, fault })));
    const refused = results.find((result) => result !== undefined);
    if (refused !== undefined) return refused;
  }
  return undefined;
};
