/** Prepared statements, and decoders for the columns of a row. */
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { JournalFileError } from "./file-error.ts";

export type Row = { readonly [column: string]: SQLOutputValue };

const wrong = (column: string, wanted: string, found: SQLOutputValue | undefined): JournalFileError =>
  new JournalFileError("not_intact", `column ${column}: expected ${wanted}, found ${typeof found}: restore a backup`);

export const integer = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== "number") throw wrong(column, "an integer", value);
  return value;
};

export const text = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== "string") throw wrong(column, "a text", value);
  return value;
};

/** Returns undefined for NULL. */
export const optional = <A>(of: (row: Row, column: string) => A, row: Row, column: string): A | undefined =>
  row[column] === null ? undefined : of(row, column);

/**
 * Matches scopes without a live owner, and those of the instance that asks. Parameters: the store's clock, the
 * instance.
 */
const isFree = "(i.until IS NULL OR i.until <= ? OR i.name = ?)";
const ofOwner = "LEFT JOIN instance AS i ON i.id = s.owner";
const scopeId = "(SELECT id FROM scope WHERE name = ?)";

/** Selects a page of scopes by name. One lower bound (the later of both) keeps SQLite from walking other rows. */
const scopesWhere = (isWanted: string): string =>
  `SELECT s.name, s.epoch, s.seq, s.wake_at, s.approvals, i.name AS owner, i.address, i.until > ? AS held FROM scope AS s ${ofOwner} WHERE ${isWanted} AND s.name >= max(?, ?) AND s.name < ? ORDER BY s.name LIMIT ?`;

export const statements = (db: DatabaseSync) => ({
  begin: db.prepare("BEGIN IMMEDIATE"),
  commit: db.prepare("COMMIT"),
  rollback: db.prepare("ROLLBACK"),
  version: db.prepare("SELECT sqlite_version() AS version"),

  join: db.prepare(
    "INSERT INTO instance (name, until, ttl, address, process, protocol, protocol_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?2) ON CONFLICT (name) DO UPDATE SET until = excluded.until, ttl = excluded.ttl, address = excluded.address, process = excluded.process, protocol = excluded.protocol, protocol_until = excluded.protocol_until",
  ),
  renew: db.prepare(
    "UPDATE instance SET until = ?1 + ttl, protocol_until = iif(protocol_until = until, ?1 + ttl, NULL) WHERE name = ?2 AND until > ?1",
  ),
  leave: db.prepare("DELETE FROM instance WHERE name = ?"),
  marks: db.prepare("SELECT id, process FROM instance WHERE until > ? AND process IS NOT NULL"),
  end: db.prepare("UPDATE instance SET until = ? WHERE id = ?"),
  lost: db.prepare("SELECT name FROM instance WHERE until <= ? ORDER BY id"),
  forget: db.prepare("DELETE FROM instance WHERE until <= ?"),
  know: db.prepare("INSERT INTO instance (name) VALUES (?) ON CONFLICT (name) DO NOTHING"),
  known: db.prepare("SELECT min(iif(protocol_until = until, protocol, 1)) AS known FROM instance WHERE until > ?"),
  instance: db.prepare("SELECT id FROM instance WHERE name = ?"),

  make: db.prepare("INSERT INTO scope (name) VALUES (?) ON CONFLICT (name) DO NOTHING"),
  scopeRow: db.prepare("SELECT id, epoch, protocol, seq, head, append_id AS appendId FROM scope WHERE name = ?"),
  epoch: db.prepare("SELECT epoch FROM scope WHERE id = ?"),
  owner: db.prepare(
    `SELECT i.name, i.address FROM scope AS s JOIN instance AS i ON i.id = s.owner WHERE s.name = ? AND i.until > ? AND i.name <> ?`,
  ),
  isOwner: db.prepare("SELECT 1 FROM scope AS s JOIN instance AS i ON i.id = s.owner WHERE s.name = ? AND i.name = ?"),
  claim: db.prepare("UPDATE scope SET epoch = ?, owner = ? WHERE id = ? RETURNING released_at"),
  release: db.prepare(
    "UPDATE scope SET owner = NULL, released_at = seq WHERE name = ? AND owner = (SELECT id FROM instance WHERE name = ?)",
  ),
  scopes: db.prepare(scopesWhere("TRUE")),
  awaitingApproval: db.prepare(scopesWhere("s.approvals > 0")),

  /** Changes whenever another connection commits. */
  dataVersion: db.prepare("PRAGMA data_version"),
  append: db.prepare(
    "INSERT INTO append (scope, before, first, last, append_id, wake_at, lines, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  ),
  /**
   * Appends and commits in one statement, if the epoch still holds and the row number is free. Retention frees row
   * numbers, but none behind the mark.
   */
  appendAlone: db.prepare(
    "INSERT OR IGNORE INTO append (id, scope, before, first, last, append_id, wake_at, lines, finished) SELECT ?1, s.id, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM scope AS s, mark AS m WHERE s.id = ?9 AND s.epoch = ?10 AND m.upto < ?1",
  ),
  protocol: db.prepare("UPDATE scope SET protocol = ? WHERE id = ?"),
  approvals: db.prepare("UPDATE scope SET approvals = ? WHERE id = ?"),
  indexFinished: db.prepare("INSERT OR REPLACE INTO finished (scope, kind, id, seq) VALUES (?, ?, ?, ?)"),
  indexFinishing: db.prepare(
    "INSERT OR REPLACE INTO finished SELECT a.scope, f.value ->> 0 AS kind, f.value ->> 1 AS id, f.value ->> 2 FROM append AS a, json_each(a.finished) AS f WHERE a.id > ? AND a.finished IS NOT NULL ORDER BY a.scope, kind, id, a.id, f.key",
  ),
  send: db.prepare(
    `INSERT INTO letter (target, source, kind, link, number, text) VALUES (${scopeId}, ?, ?, ?, ?, ?) ON CONFLICT (target, source, kind, link, number) DO UPDATE SET text = excluded.text`,
  ),
  receive: db.prepare("DELETE FROM letter WHERE target = ? AND source = ? AND kind = ? AND link = ? AND number = ?"),

  newest: db.prepare("SELECT max(id) AS id FROM append"),
  mark: db.prepare("SELECT upto FROM mark"),
  setMark: db.prepare("UPDATE mark SET upto = ?"),
  /** The last row of each scope behind the mark. */
  catchUp: db.prepare(
    "UPDATE scope SET seq = a.last, head = a.id, append_id = a.append_id, wake_at = a.wake_at FROM append AS a WHERE a.scope = scope.id AND a.id IN (SELECT max(id) FROM append WHERE id > ? GROUP BY scope)",
  ),

  /** Walks a scope's rows from its newest backwards, down to a sequence. */
  back: db.prepare(
    `WITH RECURSIVE back (id, before, first, last) AS (
       SELECT id, before, first, last FROM append WHERE id = ? AND last >= ? AND first <= last
       UNION ALL
       SELECT a.id, a.before, a.first, a.last FROM back AS b JOIN append AS a ON a.id = b.before
       WHERE a.last >= ? AND a.first <= a.last
     ) SELECT b.first, b.before, a.lines FROM back AS b JOIN append AS a ON a.id = b.id WHERE b.first <= ?`,
  ),
  /** Scans the rows of a scope between two row numbers. */
  near: db.prepare(
    "SELECT first, last, before, lines FROM append WHERE id > ? AND id <= ? AND scope = ? AND last >= ? AND first <= ? AND first <= last ORDER BY id",
  ),
  row: db.prepare("SELECT lines FROM append WHERE id = ?"),
  appendId: db.prepare("SELECT append_id FROM append WHERE id = ?"),
  place: db.prepare("SELECT before, first, last FROM append WHERE id = ?"),
  findOf: db.prepare("SELECT seq FROM finished WHERE scope = ? AND kind = ? AND id = ?"),
  find: db.prepare(`SELECT seq FROM finished WHERE scope = ${scopeId} AND kind = ? AND id = ?`),
  due: db.prepare(
    `SELECT s.name FROM scope AS s ${ofOwner} WHERE s.wake_at <= ? AND ${isFree} ORDER BY s.wake_at, s.id LIMIT ?`,
  ),
  inbox: db.prepare(`SELECT kind, link, number, source, text FROM letter WHERE target = ${scopeId} ORDER BY id`),
  /** Skips from one inbox to the next, whatever the number of messages in each. */
  mailed: db.prepare(
    `WITH RECURSIVE inbox (target) AS (
      SELECT min(target) FROM letter
      UNION ALL SELECT (SELECT min(target) FROM letter WHERE target > inbox.target) FROM inbox WHERE target IS NOT NULL
    )
    SELECT s.name FROM inbox JOIN scope AS s ON s.id = inbox.target ${ofOwner} WHERE ${isFree} LIMIT ?`,
  ),

  chain: db.prepare("SELECT seq, hash FROM chain WHERE scope = ?"),
  setChain: db.prepare("INSERT OR REPLACE INTO chain (scope, seq, hash) VALUES (?, ?, ?)"),
  snapshot: db.prepare("SELECT row, seq, text FROM snapshot WHERE scope = ?"),
  setSnapshot: db.prepare("INSERT OR REPLACE INTO snapshot (scope, row, seq, text) VALUES (?, ?, ?, ?)"),
  segment: db.prepare(`SELECT base, hash, snapshot FROM segment WHERE scope = ${scopeId}`),
  setSegment: db.prepare("INSERT OR REPLACE INTO segment (scope, base, hash, snapshot) VALUES (?, ?, ?, ?)"),
  keep: db.prepare("INSERT OR REPLACE INTO kept (scope, seq, line) VALUES (?, ?, ?)"),
  kept: db.prepare(`SELECT seq, line FROM kept WHERE scope = ? AND seq >= ? AND seq <= ? ORDER BY seq`),
  drop: db.prepare("DELETE FROM kept WHERE scope = ? AND seq = ?"),
  cut: db.prepare("DELETE FROM append WHERE id = ?"),
  dropKept: db.prepare("DELETE FROM kept WHERE scope = ?"),
  dropChain: db.prepare("DELETE FROM chain WHERE scope = ?"),
  dropSnapshot: db.prepare("DELETE FROM snapshot WHERE scope = ?"),
  dropSegment: db.prepare("DELETE FROM segment WHERE scope = ?"),
  cutBefore: db.prepare("DELETE FROM append WHERE scope = ? AND id < ?"),
  index: db.prepare(`SELECT kind, id, seq FROM finished WHERE scope = ${scopeId} ORDER BY kind, id`),
  moved: db.prepare("SELECT epoch FROM move WHERE scope = ? AND nonce = ?"),
  setMoved: db.prepare("INSERT INTO move (scope, nonce, epoch) VALUES (?, ?, ?)"),
  secrets: db.prepare("SELECT kid, secret FROM secret WHERE scope = ? ORDER BY kid, secret"),
  keepSecret: db.prepare("INSERT OR IGNORE INTO secret (scope, kid, secret) VALUES (?, ?, ?)"),
  empty: db.prepare("UPDATE append SET before = NULL, first = last + 1, lines = '' WHERE id = ?"),
});

export type Statements = ReturnType<typeof statements>;
