/**
 * Large values and attachments, in the database of the journal: the browser evicts them together with the lines that name them,
 * or not at all. They have transactions of their own, so that no append waits for them. The time at which a blob was last put
 * is a row of its own: a search for old blobs reads no bytes.
 */
import type { AttachmentStore } from "@pawl/runtime";
import type { BlobStore } from "@pawl/runtime/driver";
import type { Transactions, Writing } from "./transaction.ts";

const blobStores = ["blob", "put"] as const;

const isOld = async (at: Writing, name: string, until: number): Promise<boolean> => {
  const put = await at.objectStore("put").get(name);
  return put !== undefined && put.at <= until;
};

export const blobsOver = (transactions: Transactions, now: () => number): BlobStore => ({
  put: (_scope, name, bytes) =>
    transactions.write(async (at) => {
      await at.objectStore("put").put({ at: now() }, name);
      if ((await at.objectStore("blob").count(name)) === 0) await at.objectStore("blob").put(bytes, name);
    }, blobStores),
  read: (_scope, name) => transactions.read((at) => at.objectStore("blob").get(name), blobStores),
  old: (ms) =>
    transactions.read(
      (at) =>
        at
          .objectStore("put")
          .index("at")
          .getAllKeys(IDBKeyRange.upperBound(now() - ms)),
      blobStores,
    ),
  remove: (name, ms) =>
    transactions.write(async (at) => {
      if (!(await isOld(at, name, now() - ms))) return false;
      for (const store of blobStores) await at.objectStore(store).delete(name);
      return true;
    }, blobStores),
});

const attachmentStores = ["attachment"] as const;

/** Stores attachments under the hash of their bytes, for all scopes. They are durable before a line names them, and are never removed. */
export const attachmentsOver = (transactions: Transactions): AttachmentStore => ({
  put: (id, bytes) =>
    transactions.write(async (at) => {
      const kept = at.objectStore("attachment");
      if ((await kept.count(id)) === 0) await kept.put(bytes, id);
    }, attachmentStores),
  bytes: (id) => transactions.read((at) => at.objectStore("attachment").get(id), attachmentStores),
});
