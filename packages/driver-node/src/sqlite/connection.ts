/** A connection to a journal file: prepared statements and atomic transactions. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { inMemory } from "../journal/path.ts";
import { JournalFileError, fileError, isLocked } from "./file-error.ts";
import { checkIntegrity, prepareTables } from "./schema.ts";
import { type Statements, statements } from "./sql.ts";
import { checkpointPages, preallocateWal } from "./wal.ts";

export interface FileOptions {
  /** The store's clock, in milliseconds, which leases use. Processes on one file share the machine's clock. */
  readonly now?: () => number;
  /**
   * `full` (default): acknowledged appends survive a power cut. `normal`: they survive the process, but not a power
   * cut.
   */
  readonly synchronous?: "full" | "normal";
  /** Time that a commit waits for another process's commit. Default: 5,000 ms. */
  readonly busyMs?: number;
  /** Maximum size of the file in bytes. */
  readonly maxBytes?: number;
  /** The folder of large values. Default: beside the file, under its name with `.blobs`. */
  readonly blobs?: string;
  /** The file is opened for writing: its write-ahead log is preallocated at once, not after some commits. */
  readonly writer?: boolean;
  /** Reads all pages when the file is opened, with `check` (default). */
  readonly integrity?: "check" | "skip";
}

/** SQLite's default page size, which journal files use. */
const pageBytes = 4096;

/** Switches to WAL mode. Retries while another process does the same: SQLite itself does not wait here. */
const enableWal = (db: DatabaseSync, busyMs: number): void => {
  const until = performance.now() + busyMs;
  for (;;) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (thrown) {
      if (!isLocked(thrown) || performance.now() >= until) throw thrown;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
};

const open = (file: string, options: FileOptions): DatabaseSync => {
  const { synchronous = "full", busyMs = 5000, maxBytes, integrity = "check" } = options;
  const db = new DatabaseSync(file, { timeout: busyMs });
  try {
    enableWal(db, busyMs);
    db.exec(`PRAGMA synchronous = ${synchronous}`);
    db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    prepareTables(db, file);
    if (integrity === "check") checkIntegrity(db, file);
    if (maxBytes !== undefined) db.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
};

/** Identifies the file behind a path; undefined if there is none, or no path. */
const identityOf = (file: string): string | undefined => {
  if (file === inMemory) return undefined;
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.dev} ${stat.ino}`;
};

export class Connection {
  readonly file: string;
  readonly sql: Statements;
  readonly now: () => number;
  readonly #db: DatabaseSync;
  readonly #synchronous: "full" | "normal";
  readonly #identity: string | undefined;
  /** Set where texts are cut at their first NUL as they are read: Deno's SQLite does so. */
  readonly #cutsTexts: boolean;
  #rollbacks = 0;

  constructor(file: string, options: FileOptions = {}) {
    this.file = file;
    this.now = options.now ?? Date.now;
    this.#synchronous = options.synchronous ?? "full";
    try {
      this.#db = open(file, options);
      this.#identity = identityOf(file);
      this.sql = statements(this.#db);
      this.#cutsTexts = this.#db.prepare("SELECT 'a' || char(0) || 'b' AS text").get()?.["text"] !== "a\0b";
      if (options.writer === true) this.transact(() => preallocateWal(file));
    } catch (thrown) {
      throw fileError(thrown, file);
    }
  }

  /** Counts rolled-back transactions: cached rows from before one are invalid. */
  get rollbacks(): number {
    return this.#rollbacks;
  }

  /**
   * Tells whether the path still names the file that was opened. After a deletion or a move SQLite writes on without an
   * error, into a file that nobody finds again.
   */
  get isInPlace(): boolean {
    return identityOf(this.file) === this.#identity;
  }

  /** Refuses to go on with a file that is not in its place any more. */
  checkPlace(): void {
    if (this.isInPlace) return;
    const message = "it was deleted, moved or replaced while it was open: put it back, or start this process again";
    throw new JournalFileError("file_gone", `journal ${this.file}: ${message}`);
  }

  /** Refuses the name of a scope that could not be read back. */
  checkName(scope: string): void {
    if (!this.#cutsTexts || !scope.includes("\0")) return;
    const why = "the SQLite of this runtime cuts texts there, and the scope would not be found again";
    throw new JournalFileError(
      "invalid_name",
      `the name ${JSON.stringify(scope)} has a NUL: ${why}. Take another name, or Node`,
    );
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  /** Restores SQLite's own checkpoints, each thousand pages. */
  useSqliteCheckpoints(): void {
    if (this.#db.isOpen) this.#db.exec("PRAGMA wal_autocheckpoint = 1000");
  }

  /** Tells whether the file has a table. */
  hasTable(name: string): boolean {
    return this.query(() => this.#db.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) !== undefined);
  }

  /** Makes tables that not every file has, and prepares their statements. */
  extended<A>(tables: string, prepare: (db: DatabaseSync) => A): A {
    this.#db.exec(tables);
    return prepare(this.#db);
  }

  /** Runs statements and converts SQLite's errors. */
  query<A>(work: () => A): A {
    if (!this.#db.isOpen) throw new JournalFileError("closed", `journal ${this.file} was closed`);
    try {
      return work();
    } catch (thrown) {
      throw fileError(thrown, this.file);
    }
  }

  /**
   * Runs a transaction that does not sync: a read, an update of derived data, or a claim. A power cut may undo a claim;
   * it also ends the process that made it, so nothing depends on it.
   */
  unsynced<A>(work: () => A): A {
    if (this.#synchronous === "normal") return this.transact(work);
    this.query(() => this.#db.exec("PRAGMA synchronous = normal"));
    try {
      return this.transact(work);
    } finally {
      this.query(() => this.#db.exec("PRAGMA synchronous = full"));
    }
  }

  /** Runs a transaction, which is rolled back if anything throws. */
  transact<A>(work: () => A): A {
    return this.query(() => {
      this.sql.begin.run();
      try {
        const result = work();
        this.sql.commit.run();
        return result;
      } catch (thrown) {
        this.#rollbacks += 1;
        if (this.#db.isTransaction) this.sql.rollback.run();
        throw thrown;
      }
    });
  }
}
