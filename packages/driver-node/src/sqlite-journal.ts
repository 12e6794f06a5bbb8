/**
 * A journal on SQLite: what `appendAll` has acknowledged is on disk (WAL, synchronous FULL). The epoch is compared
 * inside the transaction that writes, so several processes may share one file.
 *
 * A commit writes one row an append and nothing else. Where a scope stands is kept in memory by whoever has claimed it,
 * and brought up to date in the file now and then, from the rows behind a mark: when a scope is claimed, read or looked
 * for, and after so many commits.
 */
import { DatabaseSync } from "node:sqlite";
import type { Append, AppendResult, Claim, Journal, JournalLine } from "@pawl/runtime";
import { prepareFile } from "./schema.ts";

/** Where a scope stands. */
interface Standing {
  readonly id: number;
  readonly seq: number;
  readonly head: number | null;
  readonly appendId: string;
}

/** Every statement is prepared once. */
const statements = (db: DatabaseSync) => ({
  begin: db.prepare("BEGIN IMMEDIATE"),
  commit: db.prepare("COMMIT"),
  rollback: db.prepare("ROLLBACK"),
  standing: db.prepare("SELECT id, seq, head, append_id AS appendId FROM scope WHERE name = ?"),
  epoch: db.prepare("SELECT epoch FROM scope WHERE name = ?"),
  claim: db.prepare(
    "INSERT INTO scope (name, epoch, owner, seq, append_id) VALUES (?, 1, ?, 0, '') ON CONFLICT (name) DO UPDATE SET epoch = epoch + 1, owner = excluded.owner RETURNING epoch",
  ),
  append: db.prepare(
    "INSERT INTO append (scope, before, first, last, append_id, wake_at, lines) VALUES (?, ?, ?, ?, ?, ?, ?)",
  ),
  newest: db.prepare("SELECT max(id) AS id FROM append"),
  mark: db.prepare("SELECT upto FROM mark"),
  setMark: db.prepare("UPDATE mark SET upto = ?"),
  /** The last row of each scope behind the mark. */
  catchUp: db.prepare(
    "UPDATE scope SET seq = a.last, head = a.id, append_id = a.append_id, wake_at = a.wake_at FROM append AS a WHERE a.scope = scope.id AND a.id IN (SELECT max(id) FROM append WHERE id > ? GROUP BY scope)",
  ),
  finish: db.prepare("INSERT OR REPLACE INTO finished (scope, kind, id, seq) VALUES (?, ?, ?, ?)"),
  row: db.prepare("SELECT before, first, lines FROM append WHERE id = ?"),
  find: db.prepare(
    "SELECT seq FROM finished WHERE scope = (SELECT id FROM scope WHERE name = ?) AND kind = ? AND id = ?",
  ),
  due: db.prepare("SELECT name FROM scope WHERE wake_at <= ? ORDER BY wake_at"),
});

/** An error of the store's, in the words of the port. A full disk takes nothing back that was acknowledged. */
const failure = (thrown: unknown): AppendResult => {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return message.includes("full") ? { type: "full" } : { type: "failed", message };
};

const linesOf = (first: number, text: string): JournalLine[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line, i) => ({ seq: first + i, line: `${line}\n` }));

/** Commits after which the mark moves, so that a crash leaves few rows to look through. */
const commitsPerMark = 1000;

class SqliteFile {
  readonly #db: DatabaseSync;
  readonly #sql: ReturnType<typeof statements>;
  /** Of the scopes that were claimed here. */
  readonly #claimed = new Map<string, Standing>();
  #sinceMark = 0;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    prepareFile(this.#db, file);
    this.#sql = statements(this.#db);
  }

  close(): void {
    this.#db.close();
  }

  /** One transaction; it is rolled back as a whole where the store itself fails. */
  #transact<A>(work: () => A): A {
    this.#sql.begin.run();
    try {
      const result = work();
      this.#sql.commit.run();
      return result;
    } catch (thrown) {
      if (this.#db.isTransaction) this.#sql.rollback.run();
      throw thrown;
    }
  }

  /** Writes where each scope stands by now. */
  #catchUp(): void {
    const newest = Number(this.#sql.newest.get()?.["id"] ?? 0);
    const mark = Number(this.#sql.mark.get()?.["upto"] ?? 0);
    this.#sinceMark = 0;
    if (newest === mark) return;
    this.#sql.catchUp.run(mark);
    this.#sql.setMark.run(newest);
  }

  #standing(scope: string): Standing | undefined {
    return this.#sql.standing.get(scope) as unknown as Standing | undefined;
  }

  claim(scope: string, instance: string): Claim {
    const { epoch, standing } = this.#transact(() => {
      this.#catchUp();
      const claimed = this.#sql.claim.get(scope, instance) as unknown as { readonly epoch: number };
      return { epoch: claimed.epoch, standing: this.#standing(scope) as Standing };
    });
    this.#claimed.set(scope, standing);
    return { epoch, seq: standing.seq };
  }

  /** What is written; the standings that follow from it hold once it is committed. */
  #write(append: Append, moved: Map<string, Standing>): AppendResult {
    const epoch = Number(this.#sql.epoch.get(append.scope)?.["epoch"] ?? 0);
    const standing = moved.get(append.scope) ?? this.#claimed.get(append.scope);
    if (standing === undefined || append.epoch !== epoch) return { type: "fenced", epoch };
    if (standing.appendId === append.appendId) return { type: "ok" };
    if (append.expectedSeq !== standing.seq + 1) return { type: "conflict", seq: standing.seq };
    const { id, head } = standing;
    const last = append.lines.at(-1)?.seq ?? standing.seq;
    const lines = append.lines.map(({ line }) => line).join("");
    const { appendId, expectedSeq, wakeAt = null } = append;
    const { lastInsertRowid } = this.#sql.append.run(id, head, expectedSeq, last, appendId, wakeAt, lines);
    for (const { kind, id: finished, seq } of append.finished) this.#sql.finish.run(id, kind, finished, seq);
    moved.set(append.scope, { id, seq: last, head: Number(lastInsertRowid), appendId });
    return { type: "ok" };
  }

  appendAll(appends: readonly Append[]): AppendResult[] {
    const moved = new Map<string, Standing>();
    const results = this.#transact(() => {
      if (this.#sinceMark >= commitsPerMark) this.#catchUp();
      return appends.map((append) => this.#write(append, moved));
    });
    this.#sinceMark += 1;
    for (const [scope, standing] of moved) this.#claimed.set(scope, standing);
    return results;
  }

  read(scope: string, from: number): JournalLine[] {
    this.#transact(() => this.#catchUp());
    const rows: JournalLine[][] = [];
    for (let at = this.#standing(scope)?.head ?? null; at !== null;) {
      const row = this.#sql.row.get(at) as unknown as {
        readonly before: number | null;
        readonly first: number;
        readonly lines: string;
      };
      rows.push(linesOf(row.first, row.lines));
      at = row.first <= from ? null : row.before;
    }
    return rows
      .toReversed()
      .flat()
      .filter(({ seq }) => seq >= from);
  }

  find(scope: string, kind: string, id: string): number | undefined {
    return (this.#sql.find.get(scope, kind, id) as { readonly seq: number } | undefined)?.seq;
  }

  due(now: number): string[] {
    this.#transact(() => this.#catchUp());
    return this.#sql.due.all(now).map((row) => String(row["name"]));
  }
}

export interface SqliteJournal extends Journal {
  readonly close: () => void;
}

export const sqliteJournal = (file: string): SqliteJournal => {
  const store = new SqliteFile(file);
  return {
    claim: async (scope, instance) => store.claim(scope, instance),
    appendAll: async (appends) => {
      try {
        return store.appendAll(appends);
      } catch (thrown) {
        return appends.map(() => failure(thrown));
      }
    },
    read: async (scope, from) => store.read(scope, from),
    find: async (scope, kind, id) => store.find(scope, kind, id),
    due: async (now) => store.due(now),
    close: () => store.close(),
  };
};
