/**
 * A journal in IndexedDB. Appends that `appendAll` acknowledged are on disk (durability "strict"). Epoch and sequence are
 * compared in the transaction that writes, so several tabs may share one database.
 */
import type { AttachmentStore, Journal } from "@pawl/runtime";
import type { Adoption, Append, AppendResult, BlobStore, MoveStore, Roots } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";
import { keepSnapshot, retain, take } from "./append.ts";
import { attachmentsOver, blobsOver } from "./blob.ts";
import { BrowserJournalError, journalError } from "./error.ts";
import { awaitingApproval, due, inbox, mailed, read, scopes, verify } from "./queries.ts";
import { type Adopted, adopt, decline, index } from "./move.ts";
import { claim, join, leave, load, lost, release, renew, scopeAt, secrets } from "./ownership.ts";
import { WriterFence } from "./writer-fence.ts";
import { type OnClosed, openDatabase } from "./schema.ts";
import { type Writing, Transactions } from "./transaction.ts";

export interface BrowserJournalOptions {
  /** Names the database. */
  readonly name: string;
  /** Reads the clock of leases, which all tabs must share. */
  readonly now?: () => number;
  /** Called with the reason when the journal was closed by someone else. */
  readonly closed?: (why: BrowserJournalError) => void;
  /** Limits the characters of all lines; by default the browser's quota does. */
  readonly room?: number;
}

export interface BrowserJournal extends Journal {
  /** Makes this the writer: the one before can neither claim nor append any more. */
  readonly takeFence: () => Promise<void>;
  /** Returns the secrets that sign wait keys, creating them on first use. */
  readonly roots: () => Promise<Roots>;
  readonly moves: MoveStore;
  readonly blobs: BlobStore;
  readonly attachments: AttachmentStore;
  readonly close: () => void;
}

interface Store {
  readonly transactions: Transactions;
  readonly fence: WriterFence;
  readonly room: number;
}

const notTaken = ({ code, message }: BrowserJournalError): AppendResult =>
  code === "full" ? { type: "full" } : { type: "failed", message };

/** Takes a group of appends. All are fenced if another tab has become the writer. */
const takeAll = async (at: Writing, { fence, room }: Store, appends: readonly Append[]): Promise<AppendResult[]> => {
  const isLost = await fence.isLost(at);
  const results: AppendResult[] = [];
  for (const append of appends)
    results.push(
      isLost ? { type: "fenced", epoch: (await scopeAt(at, append.scope))?.epoch ?? 0 } : await take(at, append, room),
    );
  return results;
};

/** Writes a group in one transaction (group commit). If the group does not fit, each append gets a transaction of its own. */
const appendAll = async (store: Store, appends: readonly Append[]): Promise<readonly AppendResult[]> => {
  try {
    return await store.transactions.write((at) => takeAll(at, store, appends));
  } catch (thrown) {
    const error = journalError(thrown, "");
    if (error.code !== "full" || appends.length === 1) return appends.map(() => notTaken(error));
    const results: AppendResult[] = [];
    for (const append of appends) results.push(...(await appendAll(store, [append])));
    return results;
  }
};

const adoptWhole = async ({ transactions, fence, room }: Store, adoption: Adoption): Promise<Adopted> => {
  try {
    return await transactions.write(async (at) => {
      if (await fence.isLost(at)) return { type: "fenced", epoch: adoption.epoch };
      const adopted = await adopt(at, adoption, room);
      if (adopted.type === "full") throw new BrowserJournalError("full", "there is no room for the scope");
      return adopted;
    });
  } catch (thrown) {
    return notTaken(journalError(thrown, ""));
  }
};

const movesOf = (store: Store): MoveStore => ({
  adopt: (adoption) => adoptWhole(store, adoption),
  decline: (scope, nonce) => store.transactions.write((at) => decline(at, scope, nonce)),
  ended: (scope, nonce) => store.transactions.read((at) => at.objectStore("moved").get([scope, nonce])),
  secrets: (scope) => store.transactions.read((at) => secrets(at, scope)),
  index: (scope) => store.transactions.read((at) => index(at, scope)),
});

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the root secret of wait keys, creating it on first use. All tabs share it, so each can verify any key. */
const rootsOf = async (transactions: Transactions): Promise<Roots> => {
  const fresh = crypto.getRandomValues(new Uint8Array(32));
  const secret = await transactions.write(async (at) => {
    const known = await at.objectStore("root").get("newest");
    if (known === undefined) await at.objectStore("root").put(fresh, "newest");
    return known ?? fresh;
  });
  return { newest: { kid: hashText(hex(secret)).slice(0, 8), secret } };
};

const journalOver = (store: Store, now: () => number): BrowserJournal => {
  const { transactions, fence } = store;
  return {
    close: () => transactions.close(),
    takeFence: () => fence.take((work) => transactions.write(work)),
    roots: () => rootsOf(transactions),
    moves: movesOf(store),
    blobs: blobsOver(transactions, now),
    attachments: attachmentsOver(transactions),
    join: (instance, lease) => transactions.write((at) => join(at, instance, lease, now())),
    renew: (instance) => transactions.write((at) => renew(at, instance, now())),
    leave: (instance) => transactions.write((at) => leave(at, instance)),
    lost: () => transactions.read((at) => lost(at, now())),
    claim: (scope, instance, protocol, above = 0) =>
      transactions.write(async (at) => {
        await fence.check(at);
        return claim(at, scope, { instance, protocol, above, now: now() });
      }),
    load: (scope, instance) => transactions.read((at) => load(at, scope, instance)),
    release: (scope, instance) => transactions.write((at) => release(at, scope, instance)),
    appendAll: (appends) => appendAll(store, appends),
    read: (scope, from, to = Infinity) => transactions.read((at) => read(at, scope, from, to)),
    find: (scope, kind, id) =>
      transactions.read(async (at) => (await at.objectStore("finished").get([scope, kind, id]))?.seq),
    due: (until, instance, limit) => transactions.read((at) => due(at, until, instance, now(), limit)),
    inbox: (scope) => transactions.read((at) => inbox(at, scope)),
    mailed: (instance, limit) => transactions.read((at) => mailed(at, instance, now(), limit)),
    scopes: (prefix, after, limit) => transactions.read((at) => scopes(at, prefix, after, limit)),
    awaitingApproval: (...page) => transactions.read((at) => awaitingApproval(at, ...page)),
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

/** Opens the IndexedDB journal of a name, and creates it if there is none. */
export const openBrowserJournal = async (options: BrowserJournalOptions): Promise<BrowserJournal> => {
  const { name, now = Date.now, room = Infinity, closed } = options;
  const opened: { transactions?: Transactions } = {};
  const onClosed: OnClosed = (why) => {
    opened.transactions?.close(why);
    closed?.(why);
  };
  const transactions = new Transactions(await openDatabase(name, onClosed), name);
  opened.transactions = transactions;
  return journalOver({ transactions, fence: new WriterFence(), room }, now);
};
