/** The database of a session's files: what is said of each, and its bytes apart from that. */
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, type StoreNames, openDB } from "idb";
import { FileError } from "../file/store.ts";

/** A file or a folder; the root has none. */
export interface EntryRow {
  readonly path: string;
  readonly parent: string;
  /** Of a file. */
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

const noRoom = (): FileError => new FileError("size", "There is no more room for files: delete some");

const inWords = (thrown: unknown): unknown =>
  thrown instanceof Error && thrown.name === "QuotaExceededError" ? noRoom() : thrown;

/** Files have one version: a newer database is none of files. */
const isNewer = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === "VersionError";

const others = (name: string, cause?: unknown): Error =>
  new Error(
    `files ${name}: a database of this name is there, which is something else's; name the files otherwise`,
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
      throw isNewer(thrown) ? others(name, thrown) : thrown;
    });
    if (database.objectStoreNames.contains("entry")) return new FileDatabase(database);
    database.close();
    throw others(name);
  }

  close(): void {
    this.#database.close();
  }

  read<A>(work: (at: Reading) => Promise<A>): Promise<A> {
    return work(this.#database.transaction(stores, "readonly"));
  }

  /** On disk when it resolves, and undone as a whole when its work throws. */
  async write<A>(work: (at: Writing) => Promise<A>): Promise<A> {
    const at = this.#database.transaction(stores, "readwrite", { durability: "strict" });
    at.done.catch(() => undefined); // Heard of below, unless the work was the first to fail.
    try {
      const result = await work(at);
      await at.done;
      return result;
    } catch (thrown) {
      if (at.error === null && !(thrown instanceof DOMException)) at.abort();
      throw inWords(at.error ?? thrown);
    }
  }
}
