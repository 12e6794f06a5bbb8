/** Transactions over the object stores: durable when they resolve, and undone as a whole when their work throws. */
import type { IDBPTransaction, StoreNames } from "idb";
import { BrowserJournalError, journalError } from "./error.ts";
import type { Database, JournalSchema } from "./schema.ts";

type Store = StoreNames<JournalSchema>;
type Stores = Store[];
export type Reading = IDBPTransaction<JournalSchema, Stores, "readonly" | "readwrite">;
export type Writing = IDBPTransaction<JournalSchema, Stores, "readwrite">;

/** The stores of the log. Their transactions run one after the other. */
const logStores: readonly Store[] = [
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
  #closed: BrowserJournalError | undefined;

  constructor(database: Database, name: string) {
    this.#database = database;
    this.#name = name;
  }

  /** Closes the database; later transactions fail with the reason. */
  close(why = new BrowserJournalError("closed", `journal ${this.#name} is closed: open it again`)): void {
    this.#closed ??= why;
    this.#database.close();
  }

  #check(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  /** Returns the error of a failed transaction: the reason of the close, if it was cut off by one. */
  #error(thrown: unknown): BrowserJournalError {
    return this.#closed ?? journalError(thrown, this.#name);
  }

  async read<A>(work: (at: Reading) => Promise<A>, stores = logStores): Promise<A> {
    this.#check();
    try {
      return await work(this.#database.transaction([...stores], "readonly"));
    } catch (thrown) {
      throw this.#error(thrown);
    }
  }

  async write<A>(work: (at: Writing) => Promise<A>, stores = logStores): Promise<A> {
    this.#check();
    try {
      const at = this.#database.transaction([...stores], "readwrite", { durability: "strict" });
      at.done.catch(() => undefined); // Awaited below, unless the work fails first.
      const result = await this.#worked(at, work);
      await at.done;
      return result;
    } catch (thrown) {
      throw this.#error(thrown);
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
