/** One transaction over all stores: durable when it resolves, and undone as a whole when its work throws. */
import type { IDBPTransaction, StoreNames } from "idb";
import { BrowserJournalError, journalError } from "./error.ts";
import type { Database, JournalSchema } from "./schema.ts";

type Stores = StoreNames<JournalSchema>[];
export type Reading = IDBPTransaction<JournalSchema, Stores, "readonly" | "readwrite">;
export type Writing = IDBPTransaction<JournalSchema, Stores, "readwrite">;

const stores: Stores = [
  "scope",
  "append",
  "kept",
  "finished",
  "letter",
  "lease",
  "snapshot",
  "segment",
  "count",
  "moved",
  "secret",
  "root",
];

export class Transactions {
  readonly #database: Database;
  readonly #name: string;
  #isClosed = false;

  constructor(database: Database, name: string) {
    this.#database = database;
    this.#name = name;
  }

  /** The browser has closed it, or its owner. */
  close(): void {
    this.#isClosed = true;
    this.#database.close();
  }

  #check(): void {
    if (this.#isClosed) throw new BrowserJournalError("closed", `journal ${this.#name} is closed: open it again`);
  }

  async read<A>(work: (at: Reading) => Promise<A>): Promise<A> {
    this.#check();
    try {
      return await work(this.#database.transaction(stores, "readonly"));
    } catch (thrown) {
      throw journalError(thrown, this.#name);
    }
  }

  async write<A>(work: (at: Writing) => Promise<A>): Promise<A> {
    this.#check();
    try {
      const at = this.#database.transaction(stores, "readwrite", { durability: "strict" });
      at.done.catch(() => undefined); // Heard of below, unless the work was the first to fail.
      const result = await this.#worked(at, work);
      await at.done;
      return result;
    } catch (thrown) {
      throw journalError(thrown, this.#name);
    }
  }

  async #worked<A>(at: Writing, work: (at: Writing) => Promise<A>): Promise<A> {
    try {
      return await work(at);
    } catch (thrown) {
      if (at.error === null) at.abort();
      throw at.error ?? thrown;
    }
  }
}
