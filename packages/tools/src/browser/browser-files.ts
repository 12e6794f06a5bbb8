/** A session's files in IndexedDB, for pages and workers. A write is on disk when its promise resolves. */
import { bytesEqual, textOfBytes } from "../file/bytes.ts";
import { expressionOf, globOf, matchesOf } from "../file/match.ts";
import { canonicalPath, displayPath, nameOf, parentOf } from "../file/path.ts";
import {
  type Entry,
  FileError,
  type FileStore,
  type Match,
  type StoredFile,
  type WriteOptions,
} from "../file/store.ts";
import { type EntryRow, FileDatabase, type Reading, type Writing } from "./database.ts";

const root = "/";

/** Returns the key range of all paths below one: `0` is the character after `/`. */
const below = (path: string): IDBKeyRange => {
  const prefix = path === root ? "" : path;
  return IDBKeyRange.bound(`${prefix}/`, `${prefix}0`, true, true);
};

const entryOf = ({ path, encoding, size, createdAt, updatedAt }: EntryRow): Entry => ({
  path,
  name: nameOf(path),
  isDirectory: encoding === undefined,
  isReadonly: false,
  size,
  createdAt,
  updatedAt,
});

const folderRow = (path: string): EntryRow => ({ path, parent: parentOf(path), size: 0, createdAt: 0, updatedAt: 0 });

const rowAt = async (at: Reading, path: string): Promise<EntryRow | undefined> =>
  path === root ? folderRow(root) : at.objectStore("entry").get(path);

const makeFolder = async (at: Writing, path: string): Promise<void> => {
  const row = await rowAt(at, path);
  if (row?.encoding !== undefined)
    throw new FileError("not_directory", `path exists but is not a directory: ${displayPath(path)}`);
  if (row !== undefined) return;
  await makeFolder(at, parentOf(path));
  await at.objectStore("entry").put(folderRow(path));
};

const holds = async (at: Reading, path: string, expected: Uint8Array): Promise<boolean> => {
  const bytes = await at.objectStore("bytes").get(path);
  return bytes !== undefined && bytesEqual(bytes, expected);
};

const remove = async (at: Writing, path: string, recursive: boolean): Promise<boolean> => {
  const row = await rowAt(at, path);
  if (row === undefined) return false;
  const range = below(path);
  if (path === root && !recursive)
    throw new FileError("not_empty", "Cannot delete root directory without recursive flag");
  if (!recursive && (await at.objectStore("entry").count(range)) > 0)
    throw new FileError("not_empty", "Directory is not empty. Use recursive=true to delete");
  for (const store of ["entry", "bytes"] as const) {
    await at.objectStore(store).delete(range);
    await at.objectStore(store).delete(path);
  }
  return true;
};

/** Keeps a session's files in IndexedDB. */
export class BrowserFiles implements FileStore {
  readonly #database: FileDatabase;
  readonly #now: () => number;

  private constructor(database: FileDatabase, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Opens the files of a database, and creates it if it does not exist. */
  static async open(name: string, now: () => number = Date.now): Promise<BrowserFiles> {
    return new BrowserFiles(await FileDatabase.open(name), now);
  }

  close(): void {
    this.#database.close();
  }

  async read(given: string): Promise<StoredFile | undefined> {
    const path = canonicalPath(given);
    return this.#database.read(async (at) => {
      const [row, bytes] = await Promise.all([rowAt(at, path), at.objectStore("bytes").get(path)]);
      if (row?.encoding === undefined || bytes === undefined) return undefined;
      const { encoding, createdAt, updatedAt } = row;
      return { path, bytes, encoding, isReadonly: false, createdAt, updatedAt };
    });
  }

  async write(given: string, bytes: Uint8Array, { encoding, expected }: WriteOptions): Promise<boolean> {
    const path = canonicalPath(given);
    return this.#database.write(async (at) => {
      const before = await rowAt(at, path);
      if (before !== undefined && before.encoding === undefined)
        throw new FileError("is_directory", `Path is a directory: ${displayPath(path)}`);
      if (expected !== undefined && !(await holds(at, path, expected))) return false;
      await makeFolder(at, parentOf(path));
      const now = this.#now();
      const row = { parent: parentOf(path), encoding, size: bytes.length, updatedAt: now };
      await at.objectStore("entry").put({ path, ...row, createdAt: before?.createdAt ?? now });
      await at.objectStore("bytes").put(bytes, path);
      return true;
    });
  }

  async createDirectory(given: string): Promise<void> {
    const path = canonicalPath(given);
    await this.#database.write((at) => makeFolder(at, path));
  }

  async delete(given: string, recursive: boolean): Promise<boolean> {
    const path = canonicalPath(given);
    return this.#database.write((at) => remove(at, path, recursive));
  }

  async stat(given: string): Promise<Entry | undefined> {
    const path = canonicalPath(given);
    const row = await this.#database.read((at) => rowAt(at, path));
    return row && entryOf(row);
  }

  async list(given: string): Promise<readonly Entry[]> {
    const path = canonicalPath(given);
    return this.#database.read(async (at) => {
      const row = await rowAt(at, path);
      if (row === undefined) throw new FileError("not_found", `Directory not found: ${displayPath(path)}`);
      if (row.encoding !== undefined)
        throw new FileError("not_directory", `Path is not a directory: ${displayPath(path)}`);
      return (await at.objectStore("entry").index("parent").getAll(path)).map(entryOf);
    });
  }

  async grep(pattern: string, pathPattern?: string): Promise<readonly Match[]> {
    const isHit = expressionOf(pattern);
    const glob = pathPattern === undefined ? undefined : globOf(pathPattern);
    return this.#database.read(async (at) => {
      const matches: Match[] = [];
      for (const { path, encoding } of await at.objectStore("entry").getAll()) {
        if (encoding !== "text" || glob?.(path) === false) continue;
        const bytes = (await at.objectStore("bytes").get(path)) ?? new Uint8Array();
        matches.push(...matchesOf(path, textOfBytes(bytes), isHit));
      }
      return matches;
    });
  }
}
