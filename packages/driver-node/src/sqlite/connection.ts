/** One connection to a journal file: its statements, and transactions that are whole or not there. */
import { DatabaseSync } from "node:sqlite";
import { JournalFileError, fileError, isLocked } from "./file-error.ts";
import { checkIntegrity, prepareTables } from "./schema.ts";
import { type Statements, statements } from "./sql.ts";
import { checkpointPages, preallocateWal } from "./wal.ts";

export interface FileOptions {
  /** The store's clock, in milliseconds: what leases run by. Processes on one file share the machine's. */
  readonly now?: () => number;
  /** `full` (default): what is acknowledged survives a power cut; `normal`: the end of a process, and no power cut. */
  readonly synchronous?: "full" | "normal";
  /** How long a commit waits for another process's: 5,000 ms. */
  readonly busyMs?: number;
  /** How large the file may grow, in bytes; then it is full. */
  readonly maxBytes?: number;
  /** The folder of large values: beside the file, under its name with `.blobs`, unless it is said here. */
  readonly blobs?: string;
  /** Whether it is opened to be written to: then its write-ahead log has its length at once, not after some commits. */
  readonly writer?: boolean;
  /** Whether all pages are read when the file is opened: `check` (default). */
  readonly integrity?: "check" | "skip";
}

/** SQLite's own default, which journal files are made with. */
const pageBytes = 4096;

/** SQLite itself does not wait where two processes open a new file at once, and each wants to make it one with a WAL. */
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

export class Connection {
  readonly file: string;
  readonly sql: Statements;
  readonly now: () => number;
  readonly #db: DatabaseSync;
  readonly #synchronous: "full" | "normal";
  #rollbacks = 0;

  constructor(file: string, options: FileOptions = {}) {
    this.file = file;
    this.now = options.now ?? Date.now;
    this.#synchronous = options.synchronous ?? "full";
    try {
      this.#db = open(file, options);
      this.sql = statements(this.#db);
      if (options.writer === true) this.transact(() => preallocateWal(file));
    } catch (thrown) {
      throw fileError(thrown, file);
    }
  }

  /** How many transactions came to nothing: what was believed of them is void. */
  get rollbacks(): number {
    return this.#rollbacks;
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  /** Has SQLite make its checkpoints as if nobody made any beside it: after a thousand pages. */
  useSqliteCheckpoints(): void {
    if (this.#db.isOpen) this.#db.exec("PRAGMA wal_autocheckpoint = 1000");
  }

  /** What a statement gives, or why the file does not give it. */
  query<A>(work: () => A): A {
    if (!this.#db.isOpen) throw new JournalFileError("closed", `journal ${this.file} was closed`);
    try {
      return work();
    } catch (thrown) {
      throw fileError(thrown, this.file);
    }
  }

  /**
   * A transaction that waits for no sync. It looks, keeps books that can be made again, or claims: a claim that a power cut
   * undoes was of a process that it ended, and nothing that followed on it is there.
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

  /** One transaction; it is rolled back as a whole where the store itself fails. */
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
