/**
 * The tables of an object. Each takes a page of its own in every object, so only those that all scopes need are made at
 * birth; the others are made when they are first written, and until then reading them finds nothing.
 *
 * An append is one row. A text longer than a row may be goes on in `rest`.
 */
import type { ObjectStorage, SqlValue } from "./object.ts";

const birth = {
  scope: `one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, epoch INTEGER NOT NULL, owner TEXT,
    protocol INTEGER NOT NULL, approvals INTEGER NOT NULL, released INTEGER, base INTEGER NOT NULL, wake_at REAL, root TEXT`,
  append: `first INTEGER PRIMARY KEY, last INTEGER NOT NULL, append_id TEXT NOT NULL, wake_at REAL, lines TEXT NOT NULL`,
  finished: `kind TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (kind, id)`,
} as const;

const later = {
  rest: `owner TEXT NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (owner, part)`,
  inbox: `id INTEGER PRIMARY KEY, source TEXT NOT NULL, kind TEXT NOT NULL, link INTEGER NOT NULL,
    number INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (source, kind, link, number)`,
  outbox: `id INTEGER PRIMARY KEY, place INTEGER NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, link INTEGER NOT NULL,
    number INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (target, kind, link, number)`,
  question: `connection TEXT NOT NULL, id INTEGER NOT NULL, frame TEXT NOT NULL, UNIQUE (connection, id)`,
  kept: `seq INTEGER PRIMARY KEY, line TEXT NOT NULL`,
  snapshot: `one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, text TEXT NOT NULL`,
  segment: `one INTEGER PRIMARY KEY CHECK (one = 1), base INTEGER NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL`,
  chain: `one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL`,
} as const;

const withoutRowId: ReadonlySet<string> = new Set(["finished", "rest"]);

export type Table = keyof typeof birth | keyof typeof later;

export type Row = Record<string, SqlValue>;

/**
 * UTF-16 units of a text in one row. A unit takes at most three bytes of UTF-8, and a row at most two million.
 */
export const rowUnits = 600_000;

/** Cuts a text into pieces for rows, never within a pair of surrogates. */
const piecesOf = (text: string): readonly string[] => {
  const pieces: string[] = [];
  for (let from = 0; from < text.length || from === 0;) {
    const end = from + rowUnits;
    const isTorn = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    const to = isTorn ? end - 1 : end;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
};

export class Tables {
  readonly #storage: ObjectStorage;
  readonly #there: Set<string>;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
    const found = this.exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`);
    this.#there = new Set(found.map(({ name }) => name));
    for (const table of Object.keys(birth) as (keyof typeof birth)[]) this.need(table);
  }

  /** Runs a statement, and returns its rows. */
  exec<A extends Row>(statement: string, ...bound: SqlValue[]): readonly A[] {
    return this.#storage.sql.exec<A>(statement, ...bound).toArray();
  }

  has(table: Table): boolean {
    return this.#there.has(table);
  }

  /** Makes a table that is about to be written, unless it is there. */
  need(table: Table): void {
    if (this.#there.has(table)) return;
    const columns = { ...birth, ...later }[table];
    this.exec(`CREATE TABLE IF NOT EXISTS ${table} (${columns})${withoutRowId.has(table) ? " WITHOUT ROWID" : ""}`);
    this.#there.add(table);
  }

  /** Reads rows of a table; none where it was never written. */
  read<A extends Row>(table: Table, rest: string, ...bound: SqlValue[]): readonly A[] {
    return this.has(table) ? this.exec<A>(`SELECT * FROM ${table} ${rest}`, ...bound) : [];
  }

  /** Deletes rows of a table, if there is one. */
  remove(table: Table, rest: string, ...bound: SqlValue[]): void {
    if (this.has(table)) this.exec(`DELETE FROM ${table} ${rest}`, ...bound);
  }

  /** Runs work as one transaction: a throw undoes all of it, tables that it made included. */
  atOnce<A>(work: () => A): A {
    const before = [...this.#there];
    try {
      return this.#storage.transactionSync(work);
    } catch (thrown) {
      this.#there.clear();
      for (const table of before) this.#there.add(table);
      throw thrown;
    }
  }

  /** Keeps what a row cannot hold of a text, under the name of the row, and returns what it can. */
  cut(owner: string, text: string): string {
    this.remove("rest", "WHERE owner = ?", owner);
    if (text.length <= rowUnits) return text;
    const [head = "", ...rest] = piecesOf(text);
    this.need("rest");
    for (const [part, piece] of rest.entries())
      this.exec(`INSERT INTO rest (owner, part, text) VALUES (?, ?, ?)`, owner, part, piece);
    return head;
  }

  /** Joins a text that was cut. */
  whole(owner: string, head: string): string {
    if (head.length < rowUnits - 1) return head;
    const rest = this.read<{ text: string }>("rest", "WHERE owner = ? ORDER BY part", owner);
    return [head, ...rest.map(({ text }) => text)].join("");
  }
}
