/** The floor of the Node driver: rows written to SQLite by hand, with the same durability. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

/** Bytes of log for one durable step: its settlement and the next request. */
const rowBytes = 700;

export class Floor {
  readonly #db: DatabaseSync;
  readonly #insert: ReturnType<DatabaseSync["prepare"]>;
  readonly #text = "x".repeat(rowBytes);

  constructor(folder: string) {
    this.#db = new DatabaseSync(join(folder, "floor.db"));
    this.#db.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE row (id INTEGER PRIMARY KEY, scope INTEGER, text TEXT)",
    );
    this.#insert = this.#db.prepare("INSERT INTO row (scope, text) VALUES (?, ?)");
  }

  /** Microseconds for this many rows, each committed by itself. */
  insertsUs(count: number): number {
    const start = performance.now();
    for (let i = 0; i < count; i++) this.#insert.run(i, this.#text);
    return (performance.now() - start) * 1000;
  }

  /** Microseconds for this many commits, each of one row for every scope. */
  groupsUs(commits: number, scopes: number): number {
    const start = performance.now();
    for (let i = 0; i < commits; i++) {
      this.#db.exec("BEGIN IMMEDIATE");
      for (let scope = 0; scope < scopes; scope++) this.#insert.run(scope, this.#text);
      this.#db.exec("COMMIT");
    }
    return (performance.now() - start) * 1000;
  }

  close(): void {
    this.#db.close();
  }
}
