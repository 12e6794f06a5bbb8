/**
 * Large values of a journal in IndexedDB, in its own database: what a line names is evicted with the line or not at all.
 * They have transactions of their own, so that no append waits for them. When a blob was last put stands beside it:
 * looking for what is old reads no bytes.
 */
import type { BlobStore } from "@pawl/runtime/driver";
import type { Transactions, Writing } from "./transaction.ts";

const stores = ["blob", "put"] as const;

const isOld = async (at: Writing, name: string, until: number): Promise<boolean> => {
  const put = await at.objectStore("put").get(name);
  return put !== undefined && put.at <= until;
};

export const blobsOver = (transactions: Transactions, now: () => number): BlobStore => ({
  put: (_scope, name, bytes) =>
    transactions.write(async (at) => {
      await at.objectStore("put").put({ at: now() }, name);
      if ((await at.objectStore("blob").count(name)) === 0) await at.objectStore("blob").put(bytes, name);
    }, stores),
  read: (_scope, name) => transactions.read((at) => at.objectStore("blob").get(name), stores),
  old: (ms) =>
    transactions.read(
      (at) =>
        at
          .objectStore("put")
          .index("at")
          .getAllKeys(IDBKeyRange.upperBound(now() - ms)),
      stores,
    ),
  remove: (name, ms) =>
    transactions.write(async (at) => {
      if (!(await isOld(at, name, now() - ms))) return false;
      for (const store of stores) await at.objectStore(store).delete(name);
      return true;
    }, stores),
});
