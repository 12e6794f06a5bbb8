/**
 * A journal in IndexedDB: what `appendAll` has acknowledged is on disk (durability "strict"). Epoch and sequence are
 * compared in the transaction that writes, so several tabs may share one database.
 */
import type { Append, AppendResult, Journal } from "@pawl/runtime";
import { take } from "./append.ts";
import { type BrowserJournalError, journalError } from "./error.ts";
import { due, inbox, mailed, read, scopes, verify } from "./look.ts";
import { claim, join, leave, load, lost, release, renew, scopeAt } from "./owner.ts";
import { keepSnapshot, retain } from "./retention.ts";
import { openDatabase } from "./schema.ts";
import { Transactions } from "./transaction.ts";

export interface BrowserJournalOptions {
  /** Of the database. */
  readonly name: string;
  /** The clock that leases run by: one for all tabs. */
  readonly now?: () => number;
  /** How many characters of lines there may be; without it, as many as the browser has room for. */
  readonly room?: number;
}

export interface BrowserJournal extends Journal {
  readonly close: () => void;
}

const notTaken = ({ code, message }: BrowserJournalError): AppendResult =>
  code === "full" ? { type: "full" } : { type: "failed", message };

/** The whole group in one transaction; where there is no room for all of it, one append after the other. */
const appendAll = async (
  transactions: Transactions,
  appends: readonly Append[],
  room: number,
): Promise<readonly AppendResult[]> => {
  try {
    return await transactions.write(async (at) => {
      const results: AppendResult[] = [];
      for (const append of appends) results.push(await take(at, append, room));
      return results;
    });
  } catch (thrown) {
    const error = journalError(thrown, "");
    if (error.code !== "full" || appends.length === 1) return appends.map(() => notTaken(error));
    const results: AppendResult[] = [];
    for (const append of appends) results.push(...(await appendAll(transactions, [append], room)));
    return results;
  }
};

export const openBrowserJournal = async (options: BrowserJournalOptions): Promise<BrowserJournal> => {
  const { name, now = Date.now, room = Infinity } = options;
  const opened: { transactions?: Transactions } = {};
  const transactions = new Transactions(await openDatabase(name, () => opened.transactions?.close()), name);
  opened.transactions = transactions;
  return {
    close: () => transactions.close(),
    join: (instance, lease) => transactions.write((at) => join(at, instance, lease, now())),
    renew: (instance) => transactions.write((at) => renew(at, instance, now())),
    leave: (instance) => transactions.write((at) => leave(at, instance)),
    lost: () => transactions.read((at) => lost(at, now())),
    claim: (scope, instance, protocol, above = 0) =>
      transactions.write((at) => claim(at, scope, { instance, protocol, above, now: now() })),
    load: (scope, instance) => transactions.read((at) => load(at, scope, instance)),
    release: (scope, instance) => transactions.write((at) => release(at, scope, instance)),
    appendAll: (appends) => appendAll(transactions, appends, room),
    read: (scope, from, to = Infinity) => transactions.read((at) => read(at, scope, from, to)),
    find: (scope, kind, id) =>
      transactions.read(async (at) => (await at.objectStore("finished").get([scope, kind, id]))?.seq),
    due: (until, instance) => transactions.read((at) => due(at, until, instance, now())),
    inbox: (scope) => transactions.read((at) => inbox(at, scope)),
    mailed: (instance) => transactions.read((at) => mailed(at, instance, now())),
    scopes: (prefix, after, limit) => transactions.read((at) => scopes(at, prefix, after, limit)),
    snapshot: (scope, epoch, seq, text) => transactions.write((at) => keepSnapshot(at, scope, epoch, { seq, text })),
    retain: (scope, epoch, keep) => transactions.write((at) => retain(at, scope, epoch, keep)),
    segment: (scope) => transactions.read((at) => at.objectStore("segment").get(scope)),
    head: (scope) =>
      transactions.read(async (at) => {
        const row = await scopeAt(at, scope);
        return row === undefined || row.seq === 0 ? undefined : { seq: row.seq, hash: row.hash };
      }),
    verify: (scope) => transactions.read((at) => verify(at, scope)),
  };
};
