/** The object stores of a journal in IndexedDB, their versions, and the opening of the database. */
import type { JournalLine, Lease, InboxMessage, MoveEnd, ScopeSecret, Segment, Snapshot } from "@pawl/runtime/driver";
import type { Finished } from "@pawl/sansio-core";
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import { BrowserJournalError, openingError } from "./error.ts";

/** The head of a scope. */
export interface ScopeRow {
  readonly name: string;
  readonly epoch: number;
  readonly protocol: number;
  readonly seq: number;
  /** The hash of the chain over all its appends. */
  readonly hash: string;
  readonly owner?: string;
  /** The last sequence when an owner released it. */
  readonly releasedAt?: number;
  readonly wakeAt?: number;
  readonly approvals?: number;
}

/** One append. */
export interface AppendRow {
  readonly scope: string;
  readonly last: number;
  readonly appendId: string;
  readonly lines: readonly JournalLine[];
  /** The hash of the chain up to this append. */
  readonly hash: string;
}

export interface LeaseRow extends Lease {
  readonly instance: string;
  readonly until: number;
}

export interface LetterRow extends InboxMessage {
  readonly to: string;
  /** Counts messages in the order of their arrival. */
  readonly order: number;
}

export interface JournalSchema extends DBSchema {
  scope: { key: string; value: ScopeRow; indexes: { wake: number } };
  append: { key: [scope: string, last: number]; value: AppendRow; indexes: { id: [scope: string, appendId: string] } };
  /** Lines that retention kept because the state refers to them. */
  kept: { key: [scope: string, seq: number]; value: JournalLine & { readonly scope: string } };
  finished: { key: [scope: string, kind: Finished["kind"], id: string]; value: { readonly seq: number } };
  letter: { key: [to: string, from: string, kind: string, link: number, number: number]; value: LetterRow };
  lease: { key: string; value: LeaseRow };
  snapshot: { key: string; value: Snapshot };
  segment: { key: string; value: Segment };
  /** Counters of the journal: the order of the next message, the characters of all lines, and the writer's fence. */
  count: { key: "letters" | "size" | "seat"; value: number };
  /** The ends of moves to this store. */
  moved: { key: [scope: string, nonce: string]; value: MoveEnd };
  /** Secrets of scopes that came from another store. */
  secret: { key: [scope: string, kid: string, secret: string]; value: ScopeSecret };
  /** The root secret of wait keys. */
  root: { key: "newest"; value: Uint8Array };
  /** Large values, by the names under which lines refer to them. */
  blob: { key: string; value: Uint8Array };
  /** The time at which a blob was last put. */
  put: { key: string; value: { readonly at: number }; indexes: { at: number } };
  /** Attachments, by the hash of their bytes. */
  attachment: { key: string; value: Uint8Array };
}

export type Database = IDBPDatabase<JournalSchema>;

const makeJournal = (database: Database): void => {
  database.createObjectStore("scope", { keyPath: "name" }).createIndex("wake", "wakeAt");
  database.createObjectStore("append", { keyPath: ["scope", "last"] }).createIndex("id", ["scope", "appendId"]);
  database.createObjectStore("kept", { keyPath: ["scope", "seq"] });
  database.createObjectStore("finished");
  database.createObjectStore("letter", { keyPath: ["to", "from", "kind", "link", "number"] });
  database.createObjectStore("lease", { keyPath: "instance" });
  database.createObjectStore("snapshot");
  database.createObjectStore("segment");
  database.createObjectStore("count");
};

const makeMoves = (database: Database): void => {
  database.createObjectStore("moved");
  database.createObjectStore("secret");
  database.createObjectStore("root");
};

const makeBlobs = (database: Database): void => {
  database.createObjectStore("blob");
  database.createObjectStore("put").createIndex("at", "at");
};

const makeAttachments = (database: Database): void => {
  database.createObjectStore("attachment");
};

/** The upgrades, one for each version. */
const versions = [makeJournal, makeMoves, makeBlobs, makeAttachments];

/** Called with the reason when the database was closed by someone else. */
export type OnClosed = (why: BrowserJournalError) => void;

const words = {
  blocked: "another tab has an older version of it, or something else its database, open; close that, or name another",
  newer_schema: "a newer page has made it newer; reload this page",
  closed: "the browser has closed it, deleted or cleared; reload this page",
  not_a_journal: "its database is something else's; name another",
} as const;

/** Returns true if the database is a journal. Nothing is changed in any other. */
const isJournal = ({ objectStoreNames }: Database): boolean => objectStoreNames.contains("scope");

/** Opens and upgrades the database, or rejects with the reason why that is not possible. */
const openOrHindered = (name: string, onClosed: OnClosed): Promise<Database> =>
  new Promise((resolve, reject) => {
    const why = (code: keyof typeof words) => new BrowserJournalError(code, `journal ${name}: ${words[code]}`);
    let isBlocked = false;
    openDB<JournalSchema>(name, versions.length, {
      upgrade: (database, before, _wanted, upgrading) => {
        if (before === 0 || isJournal(database)) return versions.slice(before).forEach((make) => make(database));
        reject(why("not_a_journal"));
        upgrading.done.catch(() => undefined); // Rejected just now.
        upgrading.abort();
      },
      blocked: () => {
        isBlocked = true;
        reject(why("blocked"));
      },
      blocking: (_current, wanted, event) => {
        (event.target as IDBDatabase).close();
        onClosed(why(wanted === null ? "closed" : "newer_schema"));
      },
      terminated: () => onClosed(why("closed")),
    }).then((database) => {
      if (isJournal(database) && !isBlocked) return resolve(database);
      database.close();
      reject(why("not_a_journal"));
    }, reject);
  });

/** Opens the database of a journal. A tab that blocks the upgrade of another closes its own database. */
export const openDatabase = async (name: string, onClosed: OnClosed): Promise<Database> => {
  try {
    // In private windows some browsers have no IndexedDB, or throw on access.
    if (typeof indexedDB === "undefined" || indexedDB === null)
      throw new BrowserJournalError(
        "unavailable",
        `journal ${name}: there is no IndexedDB here; leave private browsing`,
      );
    return await openOrHindered(name, onClosed);
  } catch (thrown) {
    throw openingError(thrown, name);
  }
};
