/** The tables of a journal file. */
import type { DatabaseSync } from "node:sqlite";

export const schemaVersion = 1;

/**
 * `append` is the hot table: one row an append, in the order of their commits, each naming its scope's row before. No
 * text key and no index is written with it; a scope's rows are found from its head, backwards. `scope` is up to date
 * with the rows up to the mark.
 */
const tables = `
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

/** A file that this code can not use as a journal. */
export class JournalFileError extends Error {
  override readonly name = "JournalFileError";
  readonly code: "newer_schema" | "not_intact";
  constructor(code: JournalFileError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

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
