/**
 * Content-addressed blobs in a folder beside the journal, one file each, sharded by the first digits of the name. A
 * file is written under a temporary name, synced and renamed, then its folder is synced: it exists whole or not at all.
 * Its modification time is the time of the last put.
 */
import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { AttachmentStore } from "@pawl/runtime";
import type { BlobStore } from "@pawl/runtime/driver";
import { JournalFileError } from "../sqlite/file-error.ts";

export interface DiskBlobsOptions {
  /** The store's clock, in milliseconds. */
  readonly now?: () => number;
}

const isName = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
/**
 * Suffix of a file that is being removed. Readers still find it; the next sweep restores it if the removal was not
 * finished.
 */
const dead = ".dead";
const fanOut = 2;
/** The modification time of this file is the time of the last sweep. */
const swept = "swept";

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";

const codes: { readonly [code: string]: "full" | "read_only" } = {
  ENOSPC: "full",
  EDQUOT: "full",
  EACCES: "read_only",
  EROFS: "read_only",
};

const failed = (folder: string, thrown: unknown): JournalFileError => {
  const what = thrown instanceof Error ? thrown.message : String(thrown);
  return new JournalFileError(codes[codeOf(thrown)] ?? "io_failed", `blobs in ${folder}: ${what}`);
};

/** Returns undefined if the file does not exist. */
const ifThere = async <A>(work: Promise<A>): Promise<A | undefined> => {
  try {
    return await work;
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
};

const withFile = async (path: string, flags: string, use: (file: FileHandle) => Promise<void>): Promise<void> => {
  const file = await open(path, flags);
  try {
    await use(file);
  } finally {
    await file.close();
  }
};
const sync = (path: string): Promise<void> => withFile(path, "r", (file) => file.sync());

class DiskBlobs {
  readonly #root: string;
  readonly #now: () => number;

  constructor(root: string, { now = Date.now }: DiskBlobsOptions) {
    this.#root = root;
    this.#now = now;
  }

  #folderOf(name: string): string {
    if (!isName(name))
      throw new JournalFileError("io_failed", `a blob's name must have 64 hexadecimal digits, found ${name}`);
    return join(this.#root, name.slice(0, fanOut));
  }
  #pathOf(name: string): string {
    return join(this.#folderOf(name), name);
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    if (!(await this.#touch(name, bytes.length))) await this.#write(name, bytes);
  }

  /**
   * Renews the time of an existing blob and syncs it, in case its writer has not finished. Returns whether it exists.
   */
  async #touch(name: string, size: number): Promise<boolean> {
    const path = this.#pathOf(name);
    const seconds = this.#now() / 1000;
    if ((await ifThere(utimes(path, seconds, seconds).then(() => true))) === undefined) return false;
    if ((await ifThere(stat(path)))?.size !== size) return false;
    if ((await ifThere(sync(path).then(() => true))) === undefined) return false;
    await sync(this.#folderOf(name));
    return true;
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const folder = this.#folderOf(name);
    if ((await mkdir(folder, { recursive: true })) !== undefined) await this.#syncFolders();
    const aside = join(folder, `${name}.${randomUUID()}`);
    const seconds = this.#now() / 1000;
    try {
      await withFile(aside, "wx", async (file) => {
        await file.writeFile(bytes);
        await file.utimes(seconds, seconds);
        await file.sync();
      });
      await rename(aside, this.#pathOf(name));
    } catch (thrown) {
      await rm(aside, { force: true });
      throw thrown;
    }
    await sync(folder);
  }

  async #syncFolders(): Promise<void> {
    await sync(this.#root);
    await sync(join(this.#root, ".."));
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    const path = this.#pathOf(name);
    const bytes =
      (await ifThere(readFile(path))) ?? (await ifThere(readFile(path + dead))) ?? (await ifThere(readFile(path)));
    return bytes && new Uint8Array(bytes);
  }

  async #isOld(path: string, ms: number): Promise<boolean> {
    const found = await ifThere(stat(path));
    return found !== undefined && found.mtimeMs <= this.#now() - ms;
  }

  /** Tells whether this process may sweep now: the one that renames the mark of the last sweep wins. */
  async turn(everyMs: number): Promise<boolean> {
    const mark = join(this.#root, swept);
    const isFirst = (await ifThere(stat(mark))) === undefined;
    if (isFirst && (await ifThere(stat(this.#root))) === undefined) return false;
    if (!isFirst) {
      if (!(await this.#isOld(mark, everyMs))) return false;
      const aside = `${mark}.${randomUUID()}`;
      if ((await ifThere(rename(mark, aside).then(() => true))) === undefined) return false;
      await rm(aside, { force: true });
    }
    const seconds = this.#now() / 1000;
    await withFile(mark, "w", (file) => file.utimes(seconds, seconds));
    return !isFirst;
  }

  async old(ms: number): Promise<readonly string[]> {
    const names: string[] = [];
    for (const part of (await ifThere(readdir(this.#root))) ?? []) {
      if (part.length !== fanOut) continue;
      const folder = join(this.#root, part);
      for (const file of await readdir(folder)) {
        if (file.endsWith(dead)) await this.#restore(join(folder, file.slice(0, -dead.length)));
        else if (!isName(file) && (await this.#isOld(join(folder, file), ms)))
          await rm(join(folder, file), { force: true });
      }
      for (const file of await readdir(folder))
        if (isName(file) && (await this.#isOld(join(folder, file), ms))) names.push(file);
    }
    return names;
  }

  /** Restores a blob and renews its time: another process may have put it meanwhile and be about to record it. */
  async #restore(path: string): Promise<void> {
    const seconds = this.#now() / 1000;
    await ifThere(utimes(path + dead, seconds, seconds).then(() => rename(path + dead, path)));
  }

  /**
   * Removes an old blob in two steps: rename, then delete. A put in between writes it again, or is noticed by its time.
   */
  async remove(name: string, ms: number): Promise<boolean> {
    const path = this.#pathOf(name);
    if (!(await this.#isOld(path, ms))) return false;
    if ((await ifThere(rename(path, path + dead).then(() => true))) === undefined) return false;
    if (await this.#isOld(path + dead, ms)) await rm(path + dead, { force: true });
    else await this.#restore(path);
    return (await ifThere(stat(path))) === undefined;
  }
}

/** Opens a folder of blobs. It is created with the first one; several processes may share it. */
export const diskBlobs = (folder: string, options: DiskBlobsOptions = {}): BlobStore => {
  const store = new DiskBlobs(folder, options);
  const withFileErrors = async <A>(work: Promise<A>): Promise<A> => {
    try {
      return await work;
    } catch (thrown) {
      throw thrown instanceof JournalFileError ? thrown : failed(folder, thrown);
    }
  };
  return {
    put: (_scope, name, bytes) => withFileErrors(store.put(name, bytes)),
    read: (_scope, name) => withFileErrors(store.read(name)),
    turn: (everyMs) => withFileErrors(store.turn(everyMs)),
    old: (ms) => withFileErrors(store.old(ms)),
    remove: (name, ms) => withFileErrors(store.remove(name, ms)),
  };
};

/** Attachments are shared by all scopes: the same bytes are one attachment. */
const anyScope = "";

/** Opens a folder of attachments. It is created with the first one; several processes may share it. */
export const diskAttachments = (folder: string): AttachmentStore => {
  const blobs = diskBlobs(folder);
  return {
    put: (id, bytes) => blobs.put(anyScope, id, bytes),
    bytes: (id) => blobs.read(anyScope, id),
  };
};
