/**
 * Bytes of attachments that travel with a scope that moves, or with an export: those that its log names, wherever in it,
 * by their hash. What is not in the store, or not what its name says, stays behind: it could be read nowhere else either.
 * They are at the target before anything there names them.
 */
import type { PackedAttachment, PackedBlob } from "@pawl/sansio-core/driver";
import { type AttachmentStore, attachmentId } from "../journal/attachment.ts";
import { base64Of, bytesOf } from "../journal/base64.ts";
import { Refused } from "../error.ts";
import type { Fault } from "../scope/deferred-event.ts";

/** What a scope may bring along: as text that is a third of what a target has room for. */
const mostBytes = 64 * 1024 * 1024;

/** Of requests, effects and large values there are hashes as well. */
const named = /(?<!hash":"|blob:)\b[0-9a-f]{64}\b/g;

/** What lies of a scope in its store. */
export interface ScopeTexts {
  readonly scope: string;
  /** Of lines, letters and its snapshot. */
  readonly texts: readonly string[];
  /** The large values that these name. */
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

/** The bytes that are named and in the store, each as it is read. */
export async function* attachmentsOf(
  store: AttachmentStore,
  of: ScopeTexts,
  fault: Fault,
): AsyncGenerator<readonly [name: string, bytes: Uint8Array], void> {
  for (const name of namesIn(of)) {
    const bytes = await readFrom(store, name, fault);
    if (bytes === undefined) continue;
    if (attachmentId(bytes) === name) yield [name, bytes];
    else fault(`attachment ${name} is not what its name says, and stays`, undefined);
  }
}

export const packedAttachment = (attachment: string, bytes: Uint8Array): PackedAttachment => ({
  attachment,
  bytes: base64Of(bytes),
});

/** Whether bytes of a store go anywhere. */
export const travels = (store: AttachmentStore | undefined): store is AttachmentStore =>
  store !== undefined && store.isShared !== true;

/** The bytes that travel; a scope that has more than may travel is refused. */
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

/** The bytes, if they are what their name says. */
export const unpackedAttachment = ({ attachment, bytes: text }: PackedAttachment): Uint8Array | undefined => {
  try {
    const bytes = bytesOf(text);
    return attachmentId(bytes) === attachment ? bytes : undefined;
  } catch {
    return undefined; // It is no base64.
  }
};

/** So many are put at a time: each waits for a disk. */
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

/** Takes bytes into a store; says why they can not be had there. */
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
