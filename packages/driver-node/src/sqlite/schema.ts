/** The tables of a journal file, version by version. A new file runs all of them, an older one the rest. */
import type { DatabaseSync } from "node:sqlite";
import { JournalFileError } from "./file-error.ts";

/**
 * `append` is the hot table: one row for each append, in commit order, linked to the previous row of its scope. It has
 * no text key and no index; a scope's rows are found from its head backwards. `scope` covers the rows up to the mark.
 */
const version1 = `
  CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    seq INTEGER NOT NULL,
    head INTEGER,
    append_id TEXT NOT NULL,
    wake_at INTEGER
  ) STRICT;
  CREATE INDEX scope_wake ON scope (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE append (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    before INTEGER,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    append_id TEXT NOT NULL,
    wake_at INTEGER,
    lines TEXT NOT NULL
  ) STRICT;
  CREATE TABLE mark (upto INTEGER NOT NULL) STRICT;
  INSERT INTO mark VALUES (0);
  CREATE TABLE finished (
    scope INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, kind, id)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Adds instances with leases, messages between scopes (`letter`), the hash chain, snapshots and retention. Retention
 * ends in an empty row of `append`, so that no row number is used twice. All logs of version 1 have protocol 1.
 */
const version2 = `
  ALTER TABLE scope RENAME TO scope1;
  DROP INDEX scope_wake;
  CREATE TABLE instance (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    until INTEGER,
    ttl INTEGER NOT NULL DEFAULT 0,
    address TEXT,
    process TEXT
  ) STRICT;
  INSERT INTO instance (name) SELECT DISTINCT owner FROM scope1;
  CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    owner INTEGER,
    protocol INTEGER NOT NULL DEFAULT 0,
    seq INTEGER NOT NULL DEFAULT 0,
    head INTEGER,
    append_id TEXT NOT NULL DEFAULT '',
    wake_at INTEGER
  ) STRICT;
  INSERT INTO scope
    SELECT s.id, s.name, s.epoch, i.id, 1, s.seq, s.head, s.append_id, s.wake_at
    FROM scope1 AS s JOIN instance AS i ON i.name = s.owner;
  DROP TABLE scope1;
  CREATE INDEX scope_wake ON scope (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE letter (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target INTEGER NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    link INTEGER NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (target, source, kind, link, number)
  ) STRICT;
  CREATE TABLE chain (scope INTEGER PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE TABLE snapshot (
    scope INTEGER PRIMARY KEY,
    row INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE TABLE segment (
    scope INTEGER PRIMARY KEY,
    base INTEGER NOT NULL,
    hash TEXT NOT NULL,
    snapshot TEXT NOT NULL
  ) STRICT;
  CREATE TABLE kept (
    scope INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (scope, seq)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Adds how moves between stores ended (no epoch: never received) and the secrets that signed the wait keys of moved
 * scopes.
 */
const version3 = `
  CREATE TABLE move (
    scope TEXT NOT NULL,
    nonce TEXT NOT NULL,
    epoch INTEGER,
    PRIMARY KEY (scope, nonce)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE secret (
    scope TEXT NOT NULL,
    kid TEXT NOT NULL,
    secret TEXT NOT NULL,
    PRIMARY KEY (scope, kid, secret)
  ) STRICT, WITHOUT ROWID;
`;

/** Drops the snapshot's chain hash: retention computes it from the rows that it deletes. */
const version4 = "ALTER TABLE snapshot DROP COLUMN hash";

/**
 * Adds what has finished since the mark, in commit order. Writing the sorted index in each commit would touch a page
 * for each scope.
 */
const version5 = `
  CREATE TABLE finishing (
    number INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL
  ) STRICT;
`;

/** Moves what has finished into the row of its append, which saves a page and a statement. */
const version6 = `
  ALTER TABLE append ADD COLUMN finished TEXT;
  INSERT OR REPLACE INTO finished SELECT scope, kind, id, seq FROM finishing ORDER BY number;
  DROP TABLE finishing;
`;

/**
 * Adds the number of calls of a scope that await approval. It is unknown until the next opening of a scope that an
 * older driver wrote.
 */
const version7 = `
  ALTER TABLE scope ADD COLUMN approvals INTEGER;
  CREATE INDEX scope_approvals ON scope (name) WHERE approvals > 0;
`;

const versions = [version1, version2, version3, version4, version5, version6, version7];

/**
 * Columns that older drivers do without: a file that has them keeps the number of its schema, so that the older processes of
 * a mixed fleet, and a release that is rolled back, still open it. What is read from one has to hold where an older driver
 * wrote the rest of its row.
 *
 * `released_at`: the last sequence of a scope when an owner released it; stale once more has been appended.
 * `protocol`: the newest that an instance knows; stale where `protocol_until` is not the end of its lease.
 */
const additions = [
  { table: "scope", column: "released_at" },
  { table: "instance", column: "protocol" },
  { table: "instance", column: "protocol_until" },
] as const;

const versionOf = (db: DatabaseSync): number => Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

/** Reads all pages, so that damage is found before anything is built on it. */
export const checkIntegrity = (db: DatabaseSync, file: string): void => {
  const found = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found === "ok") return;
  const message = `journal ${file} is damaged: ${String(found)}; restore a backup, or export what can still be read`;
  throw new JournalFileError("not_intact", message);
};

const missingColumns = (db: DatabaseSync): readonly (typeof additions)[number][] => {
  const find = db.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return additions.filter(({ table, column }) => find.get(table, column) === undefined);
};

/** Looks again under the write lock: several processes may open an old file at once. */
const migrate = (db: DatabaseSync): void => {
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const tables of versions.slice(versionOf(db))) db.exec(tables);
    for (const { table, column } of missingColumns(db)) db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} INTEGER`);
    db.exec(`PRAGMA user_version = ${versions.length}; COMMIT`);
  } catch (thrown) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw thrown;
  }
};

/** Creates the tables of a new file, or migrates those of an older one. */
export const prepareTables = (db: DatabaseSync, file: string): void => {
  const version = versionOf(db);
  if (version > versions.length) {
    const message = `journal ${file} has schema ${version}, this driver knows up to ${versions.length}: update pawl`;
    throw new JournalFileError("newer_schema", message);
  }
  if (version < versions.length || missingColumns(db).length > 0) migrate(db);
};
