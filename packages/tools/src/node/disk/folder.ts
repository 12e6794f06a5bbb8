/**
 * A folder on disk, held open, and access to its entries by name. Folders are opened one from the other, and no link is
 * ever followed, so that no race can lead out of the root. If the system shows open folders as paths (`/proc/self/fd`), a
 * name is looked up in the open folder itself, even after it was moved. Elsewhere the folder's true path is compared on
 * every access.
 */
import { type Stats, constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { FileError } from "../../file/store.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

export const canPin = existsSync("/proc/self/fd");

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** Resolves with undefined if the operation failed because nothing is there. */
export const ifThere = async <A>(done: Promise<A>): Promise<A | undefined> => {
  try {
    return await done;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
};

const leadsAway = (name: string): FileError =>
  new FileError("path", `Invalid path: ${JSON.stringify(name)} is a link, or leads out of the workspace`);

export class Folder {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #isPinned: boolean;

  private constructor(handle: FileHandle, path: string, isPinned: boolean) {
    this.#handle = handle;
    this.#path = path;
    this.#isPinned = isPinned;
  }

  static async root(path: string, isPinned: boolean): Promise<Folder> {
    return new Folder(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path, isPinned);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #at(name: string): Promise<string> {
    if (this.#isPinned) return `/proc/self/fd/${this.#handle.fd}/${name}`;
    if ((await ifThere(realpath(this.#path))) !== this.#path) throw leadsAway(name);
    return join(this.#path, name);
  }

  /** Returns the entry of a name; a link is not followed. */
  async #stats(name: string): Promise<Stats | undefined> {
    return ifThere(lstat(await this.#at(name)));
  }

  /** Returns the entry of a name; throws if it is a link, or neither file nor folder. */
  async entry(name: string): Promise<Stats | undefined> {
    const found = await this.#stats(name);
    if (found !== undefined && !found.isFile() && !found.isDirectory()) throw leadsAway(name);
    return found;
  }

  /** Returns the entry of a name for a listing: undefined if it is neither file nor folder. */
  async listed(name: string): Promise<Stats | undefined> {
    const found = await this.#stats(name);
    return found?.isFile() === true || found?.isDirectory() === true ? found : undefined;
  }

  /** Opens the folder of a name, if there is one. */
  async folder(name: string): Promise<Folder | undefined> {
    if ((await this.entry(name))?.isDirectory() !== true) return undefined;
    const handle = await ifThere(open(await this.#at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (handle === undefined) throw leadsAway(name);
    const path = join(this.#path, name);
    if (!this.#isPinned && (await ifThere(realpath(path))) !== path) {
      await handle.close();
      throw leadsAway(name);
    }
    return new Folder(handle, path, this.#isPinned);
  }

  /** Opens the file of a name for reading, if there is one. */
  async file(name: string): Promise<FileHandle | undefined> {
    if ((await this.entry(name))?.isFile() !== true) return undefined;
    const at = await this.#at(name);
    const handle = await ifThere(open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)).catch((error: unknown) => {
      throw codeOf(error) === "ELOOP" ? leadsAway(name) : error;
    });
    if (handle === undefined) return undefined;
    const isWanted = (await handle.stat()).isFile() && (this.#isPinned || (await realpath(at)) === at);
    if (isWanted) return handle;
    await handle.close();
    throw leadsAway(name);
  }

  /** Creates a new file and opens it for writing. */
  async create(name: string, mode: number): Promise<FileHandle> {
    return open(await this.#at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  }

  own(): Promise<Stats> {
    return this.#handle.stat();
  }
  async names(): Promise<readonly string[]> {
    return (await readdir(await this.#at("."))).toSorted();
  }
  async makeFolder(name: string): Promise<void> {
    await mkdir(await this.#at(name)).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  }
  async rename(from: string, to: string): Promise<void> {
    await rename(await this.#at(from), await this.#at(to));
  }
  async unlink(name: string): Promise<void> {
    await ifThere(unlink(await this.#at(name)));
  }
  async removeFolder(name: string): Promise<void> {
    await ifThere(rmdir(await this.#at(name)));
  }
  /** Makes creations and renames in this folder survive a power failure. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }
}

/** Runs `act` in a folder and closes it. */
export const within = async <A>(folder: Folder, act: (folder: Folder) => Promise<A>): Promise<A> => {
  try {
    return await act(folder);
  } finally {
    await folder.close();
  }
};
