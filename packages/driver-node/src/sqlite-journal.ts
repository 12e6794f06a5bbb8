/**
 * A journal on SQLite: what `appendAll` has acknowledged is on disk (WAL, synchronous FULL). Epoch and sequence are
 * compared inside the transaction that writes, so several processes may share one file.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Append, AppendResult, Claim, Journal, JournalLine } from "@pawl/runtime";
import { prepareFile } from "./schema.ts";

interface ScopeRow {
  readonly id: number;
  readonly epoch: number;
  readonly seq: number;
  readonly head: number | null;
  readonly append_id: string;
}

/** Every statement is prepared once. */
const statements = (db: DatabaseSync) => ({
  begin: db.prepare("BEGIN IMMEDIATE"),
  commit: db.prepare("COMMIT"),
  rollback: db.prepare("ROLLBACK"),
  scope: db.prepare("SELECT id, epoch, seq, head, append_id FROM scope WHERE name = ?"),
  create: db.prepare(
    "INSERT INTO scope (name, epoch, owner, seq, append_id) VALUES (?, 1, ?, 0, '') ON CONFLICT (name) DO UPDATE SET epoch = epoch + 1, owner = excluded.owner RETURNING epoch, seq",
  ),
  append: db.prepare("INSERT INTO append (scope, before, first, lines) VALUES (?, ?, ?, ?)"),
  advance: db.prepare("UPDATE scope SET seq = ?, head = ?, append_id = ?, wake_at = ? WHERE id = ?"),
  finish: db.prepare("INSERT OR REPLACE INTO finished (scope, kind, id, seq) VALUES (?, ?, ?, ?)"),
  row: db.prepare("SELECT before, first, lines FROM append WHERE id = ?"),
  find: db.prepare(
    "SELECT seq FROM finished WHERE scope = (SELECT id FROM scope WHERE name = ?) AND kind = ? AND id = ?",
  ),
  due: db.prepare("SELECT name FROM scope WHERE wake_at <= ? ORDER BY wake_at"),
});
type Statements = ReturnType<typeof statements>;

const rowOf = (statement: StatementSync, ...values: (string | number)[]): ScopeRow | undefined =>
  statement.get(...values) as unknown as ScopeRow | undefined;

const refusal = (scope: ScopeRow | undefined, append: Append): AppendResult | undefined => {
  if (scope === undefined || append.epoch !== scope.epoch) return { type: "fenced", epoch: scope?.epoch ?? 0 };
  if (scope.append_id === append.appendId) return { type: "ok" };
  return append.expectedSeq === scope.seq + 1 ? undefined : { type: "conflict", seq: scope.seq };
};

const write = (sql: Statements, append: Append): AppendResult => {
  const scope = rowOf(sql.scope, append.scope);
  const refused = refusal(scope, append);
  const last = append.lines.at(-1);
  if (scope === undefined || refused !== undefined || last === undefined) return refused ?? { type: "ok" };
  const lines = append.lines.map(({ line }) => line).join("");
  const { lastInsertRowid } = sql.append.run(scope.id, scope.head, append.expectedSeq, lines);
  sql.advance.run(last.seq, lastInsertRowid, append.appendId, append.wakeAt ?? null, scope.id);
  for (const { kind, id, seq } of append.finished) sql.finish.run(scope.id, kind, id, seq);
  return { type: "ok" };
};

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

export interface SqliteJournal extends Journal {
  readonly close: () => void;
}

export const sqliteJournal = (file: string): SqliteJournal => {
  const db = new DatabaseSync(file);
  prepareFile(db, file);
  const sql = statements(db);

  /** One transaction; it is rolled back as a whole where the store itself fails. */
  const transact = (appends: readonly Append[]): AppendResult[] => {
    sql.begin.run();
    try {
      const results = appends.map((append) => write(sql, append));
      sql.commit.run();
      return results;
    } catch (thrown) {
      if (db.isTransaction) sql.rollback.run();
      throw thrown;
    }
  };

  const read = (scope: string, from: number): JournalLine[] => {
    const rows: JournalLine[][] = [];
    for (let at = rowOf(sql.scope, scope)?.head ?? null; at !== null;) {
      const row = sql.row.get(at) as { readonly before: number | null; readonly first: number; readonly lines: string };
      rows.push(linesOf(row.first, row.lines));
      at = row.first <= from ? null : row.before;
    }
    return rows
      .toReversed()
      .flat()
      .filter(({ seq }) => seq >= from);
  };

  return {
    claim: async (scope, instance): Promise<Claim> => {
      const { epoch, seq } = sql.create.get(scope, instance) as unknown as Claim;
      return { epoch, seq };
    },
    appendAll: async (appends) => {
      try {
        return transact(appends);
      } catch (thrown) {
        return appends.map(() => failure(thrown));
      }
    },
    read: async (scope, from) => read(scope, from),
    find: async (scope, kind, id) => (sql.find.get(scope, kind, id) as { readonly seq: number } | undefined)?.seq,
    due: async (now) => sql.due.all(now).map((row) => String(row["name"])),
    close: () => db.close(),
  };
};
