/** A session's files in memory. */
import { bytesEqual, textOfBytes } from "./bytes.ts";
import { expressionOf, globOf, matchesOf } from "./match.ts";
import { canonicalPath, displayPath, nameOf, parentOf } from "./path.ts";
import { type Entry, FileError, type FileStore, type Match, type StoredFile, type WriteOptions } from "./store.ts";

/** Keeps a session's files in memory. */
export class MemoryFiles implements FileStore {
  readonly #files = new Map<string, StoredFile>();
  readonly #folders = new Set<string>(["/"]);
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async read(path: string): Promise<StoredFile | undefined> {
    return this.#files.get(canonicalPath(path));
  }

  async write(path: string, bytes: Uint8Array, { encoding, expected }: WriteOptions): Promise<boolean> {
    const key = canonicalPath(path);
    if (this.#folders.has(key)) throw new FileError("is_directory", `Path is a directory: ${displayPath(key)}`);
    const before = this.#files.get(key);
    if (before?.isReadonly) throw new FileError("readonly", `Cannot modify readonly file: ${displayPath(key)}`);
    if (expected !== undefined && (before === undefined || !bytesEqual(before.bytes, expected))) return false;
    this.#makeFolder(parentOf(key));
    const now = this.#now();
    const file = { path: key, bytes, encoding, isReadonly: false, createdAt: before?.createdAt ?? now, updatedAt: now };
    this.#files.set(key, file);
    return true;
  }

  /** Makes an existing file read-only; returns false if there is none. */
  protect(path: string): boolean {
    const key = canonicalPath(path);
    const file = this.#files.get(key);
    if (file !== undefined) this.#files.set(key, { ...file, isReadonly: true });
    return file !== undefined;
  }

  async createDirectory(path: string): Promise<void> {
    this.#makeFolder(canonicalPath(path));
  }

  #makeFolder(path: string): void {
    if (this.#files.has(path)) {
      throw new FileError("not_directory", `path exists but is not a directory: ${displayPath(path)}`);
    }
    if (this.#folders.has(path)) return;
    this.#makeFolder(parentOf(path));
    this.#folders.add(path);
  }

  #below(path: string): readonly string[] {
    const prefix = path === "/" ? "/" : `${path}/`;
    return [...this.#files.keys(), ...this.#folders].filter((key) => key !== "/" && key.startsWith(prefix));
  }

  async delete(path: string, recursive: boolean): Promise<boolean> {
    const key = canonicalPath(path);
    if (this.#files.get(key)?.isReadonly) {
      throw new FileError("readonly", `Cannot modify readonly file: ${displayPath(key)}`);
    }
    if (this.#files.delete(key)) return true;
    if (!this.#folders.has(key)) return false;
    if (key === "/" && !recursive) {
      throw new FileError("not_empty", "Cannot delete root directory without recursive flag");
    }
    const below = this.#below(key);
    if (below.length > 0 && !recursive) {
      throw new FileError("not_empty", "Directory is not empty. Use recursive=true to delete");
    }
    for (const other of [...below, key]) {
      this.#files.delete(other);
      if (other !== "/") this.#folders.delete(other);
    }
    return true;
  }

  #entry(path: string): Entry | undefined {
    const file = this.#files.get(path);
    if (file === undefined) {
      const folder = {
        path,
        name: nameOf(path),
        isDirectory: true,
        isReadonly: false,
        size: 0,
        createdAt: 0,
        updatedAt: 0,
      };
      return this.#folders.has(path) ? folder : undefined;
    }
    const { isReadonly, createdAt, updatedAt } = file;
    return { path, name: nameOf(path), isDirectory: false, isReadonly, size: file.bytes.length, createdAt, updatedAt };
  }

  async stat(path: string): Promise<Entry | undefined> {
    return this.#entry(canonicalPath(path));
  }

  async list(path: string): Promise<readonly Entry[]> {
    const key = canonicalPath(path);
    if (this.#files.has(key)) throw new FileError("not_directory", `Path is not a directory: ${displayPath(key)}`);
    if (!this.#folders.has(key)) throw new FileError("not_found", `Directory not found: ${displayPath(key)}`);
    return this.#below(key)
      .filter((other) => parentOf(other) === key)
      .toSorted()
      .flatMap((other) => this.#entry(other) ?? []);
  }

  async grep(pattern: string, pathPattern?: string): Promise<readonly Match[]> {
    const isHit = expressionOf(pattern);
    const glob = pathPattern === undefined ? undefined : globOf(pathPattern);
    const files = [...this.#files.values()].filter(
      ({ path, encoding }) => encoding === "text" && (glob?.(path) ?? true),
    );
    return files
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .flatMap(({ path, bytes }) => matchesOf(path, textOfBytes(bytes), isHit));
  }
}
