/** The tables of a journal file. */
import type { DatabaseSync } from "node:sqlite";
import { JournalFileError } from "./file-error.ts";

export const schemaVersion = 2;

/**
 * `append` is the hot table: one row an append, in the order of their commits, each naming its scope's row before. No
 * text key and no index is written with it; a scope's rows are found from its head, backwards. `scope` is up to date
 * with the rows up to the mark. What retention has cut ends in an empty row, so that no row's number is used twice.
 */
const tables = `
  CREATE TABLE instance (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    until INTEGER,
    ttl INTEGER NOT NULL DEFAULT 0,
    address TEXT
  ) STRICT;
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

const versionOf = (db: DatabaseSync): number => Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);

const checkIntegrity = (db: DatabaseSync, file: string): void => {
  const found = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (found !== "ok") throw new JournalFileError("not_intact", `journal ${file} is not intact: ${String(found)}`);
};

/** Makes the tables of a new file, and checks those of an old one. */
export const prepareFile = (db: DatabaseSync, file: string): void => {
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;");
  const version = versionOf(db);
  if (version > schemaVersion) {
    const message = `journal ${file} has schema ${version}, this driver knows ${schemaVersion}: update it first`;
    throw new JournalFileError("newer_schema", message);
  }
  if (version === 0) db.exec(`BEGIN IMMEDIATE; ${tables} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
  else checkIntegrity(db, file);
};
