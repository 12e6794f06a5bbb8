/** The IndexedDB database of a session's files: one store for metadata, one for bytes. */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, type StoreNames, openDB } from "idb";
import { FileError } from "../file/store.ts";

/** A file or a folder. The root has no row. */
export interface EntryRow {
  readonly path: string;
  readonly parent: string;
  /** Set for files. */
  readonly encoding?: "text" | "base64";
  readonly size: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface FileSchema extends DBSchema {
  entry: { key: string; value: EntryRow; indexes: { parent: string } };
  bytes: { key: string; value: Uint8Array };
}

type Stores = StoreNames<FileSchema>[];
export type Reading = IDBPTransaction<FileSchema, Stores, "readonly" | "readwrite">;
export type Writing = IDBPTransaction<FileSchema, Stores, "readwrite">;

const stores: Stores = ["entry", "bytes"];

const noRoom = (): FileError => new FileError("size", "There is no room left for files: delete some");

const readableError = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.name === "QuotaExceededError" ? noRoom() : thrown;

/** Returns true if the database has a newer version. This schema has one version: such a database is not ours. */
const isNewer = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === "VersionError";

const foreignDatabase = (name: string, cause?: unknown): Error =>
  new Error(
    `files ${name}: a database of this name exists and belongs to something else; choose another name`,
    cause === undefined ? {} : { cause },
  );

export class FileDatabase {
  readonly #database: IDBPDatabase<FileSchema>;

  private constructor(database: IDBPDatabase<FileSchema>) {
    this.#database = database;
  }

  static async open(name: string): Promise<FileDatabase> {
    const database = await openDB<FileSchema>(name, 1, {
      upgrade: (made) => {
        made.createObjectStore("entry", { keyPath: "path" }).createIndex("parent", "parent");
        made.createObjectStore("bytes");
      },
    }).catch((thrown: unknown) => {
      throw isNewer(thrown) ? foreignDatabase(name, thrown) : thrown;
    });
    if (database.objectStoreNames.contains("entry")) return new FileDatabase(database);
    database.close();
    throw foreignDatabase(name);
  }

  close(): void {
    this.#database.close();
  }

  read<A>(work: (at: Reading) => Promise<A>): Promise<A> {
    return work(this.#database.transaction(stores, "readonly"));
  }

  /** Runs `work` in one transaction: it is on disk when this resolves, and rolled back if `work` throws. */
  async write<A>(work: (at: Writing) => Promise<A>): Promise<A> {
    const at = this.#database.transaction(stores, "readwrite", { durability: "strict" });
    at.done.catch(() => undefined); // Awaited below, unless the work fails first.
    try {
      const result = await work(at);
      await at.done;
      return result;
    } catch (thrown) {
      if (at.error === null && !(thrown instanceof DOMException)) at.abort();
      throw readableError(at.error ?? thrown);
    }
  }
}
