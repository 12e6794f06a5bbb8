/**
 * Bytes of attachments in the database of a journal, under their ids: they are on disk before anything names them, and
 * stay there. The same bytes are one attachment, whichever scope puts them.
 */
import type { AttachmentStore } from "@pawl/runtime";
import type { Transactions } from "./transaction.ts";

const stores = ["attachment"] as const;

export const attachmentsOver = (transactions: Transactions): AttachmentStore => ({
  put: (id, bytes) =>
    transactions.write(async (at) => {
      const kept = at.objectStore("attachment");
      if ((await kept.count(id)) === 0) await kept.put(bytes, id);
    }, stores),
  bytes: (id) => transactions.read((at) => at.objectStore("attachment").get(id), stores),
});
