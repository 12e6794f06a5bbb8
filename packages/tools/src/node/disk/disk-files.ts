/** A session's files on disk, below a root that no path can leave. */
import type { Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { encodingOf, textOfBytes } from "../../file/bytes.ts";
import { globOf } from "../../file/match.ts";
import { canonicalPath, displayPath, nameOf } from "../../file/path.ts";
import {
  type Entry,
  FileError,
  type FileStore,
  type Match,
  type StoredFile,
  type WriteOptions,
} from "../../file/store.ts";
import { holds, isReadonly, readWhole, replace } from "./disk-file.ts";
import { isNameable, namesOf } from "./disk-name.ts";
import { Folder, canPin, within } from "./folder.ts";
import { searcher } from "./search.ts";
import { eachFile, emptied, refuseFull, refuseTwin } from "./tree.ts";

export interface DiskLimits {
  /** The limit of one file, read or written. */
  readonly maxFileBytes: number;
  /** The limit of entries of one listed folder. */
  readonly maxEntries: number;
  /** The limit of all files that one search reads. */
  readonly maxSearchBytes: number;
  /** The time limit of one search. */
  readonly searchMs: number;
}

export interface DiskOptions extends Partial<DiskLimits> {
  /** Holds folders by their handles. True by default if the system supports it. */
  readonly isPinned?: boolean;
}

const defaults: DiskLimits = {
  maxFileBytes: 32 * 1024 * 1024,
  maxEntries: 10_000,
  maxSearchBytes: 64 * 1024 * 1024,
  searchMs: 1000,
};

const isFolder = (path: string): FileError =>
  new FileError("is_directory", `Path is a directory: ${displayPath(path)}`);
const tooLarge = (path: string, size: number, limit: number): FileError =>
  new FileError("size", `File is too large: ${displayPath(path)} (${size} bytes, at most ${limit})`);
const tooMuch = (limit: number): string =>
  `The files to search have more than ${limit} bytes: narrow the search by path_pattern`;
const notFolder = (path: string): FileError =>
  new FileError("not_directory", `path exists but is not a directory: ${displayPath(path)}`);
const readonly = (path: string): FileError =>
  new FileError("readonly", `Cannot modify readonly file: ${displayPath(path)}`);

const entryOf = (path: string, stats: Stats): Entry => ({
  path,
  name: nameOf(path),
  isDirectory: stats.isDirectory(),
  isReadonly: stats.isFile() && isReadonly(stats),
  size: stats.isFile() ? stats.size : 0,
  createdAt: Math.trunc(stats.birthtimeMs),
  updatedAt: Math.trunc(stats.mtimeMs),
});

interface Place {
  readonly path: string;
  readonly names: readonly string[];
  readonly parents: readonly string[];
  /** Undefined for the root. */
  readonly name: string | undefined;
}

const placeOf = (given: string): Place => {
  const path = canonicalPath(given);
  const names = namesOf(path);
  return { path, names, parents: names.slice(0, -1), name: names.at(-1) };
};

interface Put {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly expected: Uint8Array | undefined;
}
interface Removal {
  readonly path: string;
  readonly recursive: boolean;
}

type Step = (folder: Folder, name: string, path: string) => Promise<Folder | undefined>;

const enter: Step = (folder, name) => folder.folder(name);

const enterOrMake: Step = async (folder, name, path) => {
  const there = await folder.entry(name);
  if (there?.isFile()) throw notFolder(path);
  if (there === undefined) {
    await refuseTwin(folder, name);
    await folder.makeFolder(name);
    await folder.sync();
  }
  return folder.folder(name);
};

/** Keeps a session's files on disk, below one root that no path or link leaves. */
export class DiskFiles implements FileStore {
  readonly #root: string;
  readonly #isPinned: boolean;
  readonly #limits: DiskLimits;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(root: string, { isPinned = canPin, ...limits }: DiskOptions) {
    this.#root = root;
    this.#isPinned = isPinned;
    this.#limits = { ...defaults, ...limits };
  }

  /** Opens the files of an existing folder. Links in the path of the root itself are followed, once. */
  static async open(root: string, options: DiskOptions = {}): Promise<DiskFiles> {
    const files = new DiskFiles(await realpath(root), options);
    await within(await Folder.root(files.#root, files.#isPinned), (folder) => folder.names());
    return files;
  }

  /** Opens the folder at these names; undefined if one of them is not a folder. */
  async #folderAt(names: readonly string[], step: Step): Promise<Folder | undefined> {
    let folder = await Folder.root(this.#root, this.#isPinned);
    for (const [i, name] of names.entries()) {
      const path = `/${names.slice(0, i + 1).join("/")}`;
      const next = await within(folder, () => step(folder, name, path));
      if (next === undefined) return undefined;
      folder = next;
    }
    return folder;
  }

  async #in<A>(names: readonly string[], act: (folder: Folder) => Promise<A>, step = enter): Promise<A | undefined> {
    const folder = await this.#folderAt(names, step);
    return folder === undefined ? undefined : within(folder, act);
  }

  /** Runs changes one at a time, so that the file that was compared is the one that is replaced. */
  #serially<A>(change: () => Promise<A>): Promise<A> {
    const done = this.#last.then(change, change);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async read(given: string): Promise<StoredFile | undefined> {
    const { path, parents, name } = placeOf(given);
    if (name === undefined) return undefined;
    return this.#in(parents, async (folder) => {
      const file = await readWhole(folder, name, this.#limits.maxFileBytes);
      if (file === undefined) return undefined;
      const { isReadonly: isFixed, createdAt, updatedAt } = entryOf(path, file.stats);
      return { path, bytes: file.bytes, encoding: encodingOf(file.bytes), isReadonly: isFixed, createdAt, updatedAt };
    });
  }

  write(given: string, bytes: Uint8Array, { expected }: WriteOptions): Promise<boolean> {
    return this.#serially(async () => {
      const { path, parents, name } = placeOf(given);
      if (name === undefined) throw isFolder(path);
      const { maxFileBytes } = this.#limits;
      if (bytes.length > maxFileBytes) throw tooLarge(path, bytes.length, maxFileBytes);
      const step = expected === undefined ? enterOrMake : enter;
      const isWritten = await this.#in(parents, (folder) => this.#put(folder, name, { path, bytes, expected }), step);
      return isWritten ?? false;
    });
  }

  async #put(folder: Folder, name: string, { path, bytes, expected }: Put): Promise<boolean> {
    const before = await folder.entry(name);
    if (before?.isDirectory()) throw isFolder(path);
    if (before !== undefined && isReadonly(before)) throw readonly(path);
    if (expected !== undefined && !(await holds(folder, name, expected))) return false;
    if (before === undefined) await refuseTwin(folder, name);
    await replace(folder, name, bytes, before);
    return true;
  }

  createDirectory(given: string): Promise<void> {
    return this.#serially(async () => {
      await this.#in(placeOf(given).names, async () => undefined, enterOrMake);
    });
  }

  delete(given: string, recursive: boolean): Promise<boolean> {
    return this.#serially(async () => {
      const { path, parents, name } = placeOf(given);
      const isDeleted = await this.#in(parents, (folder) =>
        name === undefined ? this.#clear(folder, recursive) : this.#remove(folder, name, { path, recursive }),
      );
      return isDeleted ?? false;
    });
  }

  async #clear(root: Folder, recursive: boolean): Promise<boolean> {
    if (!recursive) throw new FileError("not_empty", "Cannot delete root directory without recursive flag");
    await emptied(root);
    return true;
  }

  async #remove(folder: Folder, name: string, { path, recursive }: Removal): Promise<boolean> {
    const found = await folder.entry(name);
    if (found === undefined) return false;
    if (found.isFile()) {
      if (isReadonly(found)) throw readonly(path);
      await folder.unlink(name);
    } else {
      const inner = await folder.folder(name);
      if (inner === undefined) return false;
      await within(inner, () => (recursive ? emptied(inner) : refuseFull(inner)));
      await folder.removeFolder(name);
    }
    await folder.sync();
    return true;
  }

  async stat(given: string): Promise<Entry | undefined> {
    const { path, parents, name } = placeOf(given);
    return this.#in(parents, async (folder) => {
      const found = name === undefined ? await folder.own() : await folder.entry(name);
      return found === undefined ? undefined : entryOf(path, found);
    });
  }

  async list(given: string): Promise<readonly Entry[]> {
    const { path, names, parents, name } = placeOf(given);
    const entries = await this.#in(names, (folder) => this.#entries(folder, path));
    if (entries !== undefined) return entries;
    const there = await this.#in(parents, async (folder) => (name === undefined ? undefined : folder.entry(name)));
    if (there !== undefined) throw new FileError("not_directory", `Path is not a directory: ${displayPath(path)}`);
    throw new FileError("not_found", `Directory not found: ${displayPath(path)}`);
  }

  async #entries(folder: Folder, path: string): Promise<readonly Entry[]> {
    const names = (await folder.names()).filter(isNameable);
    const { maxEntries } = this.#limits;
    if (names.length > maxEntries) {
      const counts = `${names.length} entries, at most ${maxEntries} are listed`;
      throw new FileError("size", `Directory is too large: ${displayPath(path)} (${counts})`);
    }
    const entries: Entry[] = [];
    for (const name of names) {
      const stats = await folder.listed(name);
      if (stats !== undefined) entries.push(entryOf(path === "/" ? `/${name}` : `${path}/${name}`, stats));
    }
    return entries;
  }

  async grep(pattern: string, pathPattern?: string): Promise<readonly Match[]> {
    const { maxFileBytes, maxSearchBytes, searchMs } = this.#limits;
    const search = searcher(pattern, searchMs);
    const glob = pathPattern === undefined ? undefined : globOf(pathPattern);
    const found: Match[] = [];
    let size = 0;
    const visit = async (folder: Folder, name: string, path: string): Promise<void> => {
      const stats = glob?.(path) === false ? undefined : await folder.listed(name);
      if (stats === undefined || stats.size > maxFileBytes) return;
      size += stats.size;
      if (size > maxSearchBytes) throw new FileError("size", tooMuch(maxSearchBytes));
      const bytes = (await readWhole(folder, name, maxFileBytes))?.bytes ?? new Uint8Array();
      if (encodingOf(bytes) === "text") found.push(...(await search(path, textOfBytes(bytes))));
    };
    await this.#in([], (root) => eachFile(root, "", visit));
    return found.toSorted((a, b) => (a.path === b.path ? a.line_number - b.line_number : a.path < b.path ? -1 : 1));
  }
}
