/** One file of a folder on disk: it is read whole within a limit, and replaced atomically. */
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { bytesEqual } from "../../file/bytes.ts";
import { FileError } from "../../file/store.ts";
import { isTemporary, temporaryName } from "./disk-name.ts";
import { type Folder, ifThere } from "./folder.ts";

/** The age at which a temporary file is taken for the remains of a dead process. */
const staleMs = 3_600_000;

export const isReadonly = ({ mode }: Stats): boolean => (mode & 0o200) === 0;

/** Reads at most one byte more than the limit: the file may grow meanwhile. */
const bytesUpTo = async (handle: FileHandle, limit: number): Promise<Uint8Array> => {
  const chunks: Buffer[] = [];
  for await (const chunk of handle.createReadStream({ start: 0, end: limit, autoClose: false })) {
    chunks.push(chunk as Buffer);
  }
  return new Uint8Array(Buffer.concat(chunks));
};

export const readWhole = async (
  folder: Folder,
  name: string,
  limit: number,
): Promise<{ readonly bytes: Uint8Array; readonly stats: Stats } | undefined> => {
  const handle = await folder.file(name);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    const bytes = stats.size > limit ? undefined : await bytesUpTo(handle, limit);
    if (bytes !== undefined && bytes.length <= limit) return { bytes, stats };
    throw new FileError("size", `File is too large: ${name} (more than ${limit} bytes)`);
  } finally {
    await handle.close();
  }
};

export const holds = async (folder: Folder, name: string, expected: Uint8Array): Promise<boolean> => {
  const found = (await folder.entry(name))?.size === expected.length;
  if (!found) return false;
  const file = await readWhole(folder, name, expected.length);
  return file !== undefined && bytesEqual(file.bytes, expected);
};

/** Removes the temporary files of dead processes. */
const sweep = async (folder: Folder): Promise<void> => {
  for (const name of (await folder.names()).filter(isTemporary)) {
    const found = await folder.listed(name);
    if (found !== undefined && Date.now() - found.mtimeMs > staleMs) await folder.unlink(name);
  }
};

const fill = async (handle: FileHandle, bytes: Uint8Array, before: Stats | undefined): Promise<void> => {
  try {
    await handle.writeFile(bytes);
    if (before !== undefined) await handle.chmod(before.mode & 0o777);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const removed = (name: string): FileError =>
  new FileError("not_found", `The folder of ${JSON.stringify(name)} was removed while it was written`);

/** Replaces a file by write, sync and rename: readers see the old bytes or the new ones, also after a crash. */
export const replace = async (
  folder: Folder,
  name: string,
  bytes: Uint8Array,
  before: Stats | undefined,
): Promise<void> => {
  await ifThere(sweep(folder));
  const temporary = temporaryName(randomBytes(16).toString("hex"));
  const handle = await ifThere(folder.create(temporary, 0o666));
  if (handle === undefined) throw removed(name);
  try {
    await fill(handle, bytes, before);
    const isInPlace = await ifThere(folder.rename(temporary, name).then(() => true));
    if (isInPlace === undefined) throw removed(name);
  } catch (error) {
    await folder.unlink(temporary);
    throw error;
  }
  await folder.sync();
};
