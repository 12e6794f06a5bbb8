/**
 * Preallocates the write-ahead log. SQLite lets it grow page by page until the first checkpoint and reuses it
 * afterwards. Syncing a file that grows also writes the file system's metadata, which takes twice as long.
 */
import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

/** Size of a page in the log: with its header of 24 bytes. */
const pageBytes = 4096 + 24;

/** Length of the log in pages, and its maximum under heavy writing. */
export const walPages = 1024;
export const maxWalPages = 4 * walPages;

/**
 * Number of pages at which SQLite makes a checkpoint in a commit, before the end of the log. All processes on a file
 * use the same number; otherwise one that writes little would copy the pages of one that writes much.
 */
export const checkpointPages = maxWalPages - 96;

/** Commits after which a file counts as written to. */
export const commitsToFullLength = 16;

/** Bytes of zeros written at once: a larger buffer would trigger the garbage collector. */
const zerosAtOnce = 64 * 1024;

/** Appends zeros, or restores the length if there is no room for all of them. */
const fill = (wal: number, from: number, to: number): void => {
  const zeros = new Uint8Array(zerosAtOnce);
  try {
    for (let at = from; at < to;) at += writeSync(wal, zeros, 0, Math.min(zeros.length, to - at), at);
    fdatasyncSync(wal);
  } catch (thrown) {
    ftruncateSync(wal, from);
    throw thrown;
  }
};

/** Error codes that mean no room for more bytes or for another open file. */
const noRoom: readonly string[] = ["ENOSPC", "EDQUOT", "EFBIG", "EMFILE", "ENFILE", "EACCES", "EPERM"];

const hasNoRoom = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && noRoom.includes(String(thrown.code));

const openWal = (wal: string): number | undefined => {
  if (!existsSync(wal) || isRestricted()) return undefined;
  try {
    return openSync(wal, "r+");
  } catch (thrown) {
    if (!hasNoRoom(thrown)) throw thrown;
    return undefined;
  }
};

/** Node's permission model forbids `fdatasync`. */
const isRestricted = (): boolean => process.permission !== undefined;

/**
 * Fills the log with zeros, which SQLite does not take for pages. Runs inside a transaction before its first write: the
 * write lock keeps others from lengthening the log. Returns false if there is no room; the log then grows as before.
 */
export const preallocateWal = (file: string, pages = walPages): boolean => {
  const wal = openWal(`${file}-wal`);
  if (wal === undefined) return false;
  try {
    const { size } = fstatSync(wal);
    if (size < pages * pageBytes) fill(wal, size, pages * pageBytes);
    return true;
  } catch (thrown) {
    if (!hasNoRoom(thrown)) throw thrown;
    return false;
  } finally {
    closeSync(wal);
  }
};
