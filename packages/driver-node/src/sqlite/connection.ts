/** One connection to a journal file: its statements, and transactions that are whole or not there. */
import { DatabaseSync } from "node:sqlite";
import { fileError } from "./file-error.ts";
import { prepareFile } from "./schema.ts";
import { type Statements, statements } from "./statement.ts";

export interface FileOptions {
  /** The store's clock, in milliseconds: what leases run by. Processes on one file share the machine's. */
  readonly now?: () => number;
  /** How large the file may grow, in bytes; then it is full. */
  readonly maxBytes?: number;
}

/** SQLite's own default, which journal files are made with. */
const pageBytes = 4096;

export class Connection {
  readonly file: string;
  readonly sql: Statements;
  readonly now: () => number;
  readonly #db: DatabaseSync;

  constructor(file: string, { now = Date.now, maxBytes }: FileOptions = {}) {
    this.file = file;
    this.now = now;
    try {
      this.#db = new DatabaseSync(file);
      prepareFile(this.#db, file);
      if (maxBytes !== undefined) this.#db.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageBytes)}`);
      this.sql = statements(this.#db);
    } catch (thrown) {
      throw fileError(thrown, file);
    }
  }

  close(): void {
    this.#db.close();
  }

  /** What a reading statement gives, or why the file does not give it. */
  ask<A>(work: () => A): A {
    try {
      return work();
    } catch (thrown) {
      throw fileError(thrown, this.file);
    }
  }

  /** One transaction; it is rolled back as a whole where the store itself fails. */
  transact<A>(work: () => A): A {
    return this.ask(() => {
      this.sql.begin.run();
      try {
        const result = work();
        this.sql.commit.run();
        return result;
      } catch (thrown) {
        if (this.#db.isTransaction) this.sql.rollback.run();
        throw thrown;
      }
    });
  }
}
