/**
 * The write-ahead log at its full length. SQLite lets it grow page by page until the first checkpoint, and then writes it
 * from its start again; but the sync of a file that grows waits for the books of the file system too, twice as long.
 */
import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

/** What a page takes in it: a head of 24 bytes as well. */
const pageBytes = 4096 + 24;

/** Its length in pages; and where much is written. */
export const walPages = 1024;
export const maxWalPages = 4 * walPages;

/**
 * After how many pages SQLite makes a checkpoint itself, in the commit that comes to them: before the end of the log. It is
 * one number for all who write to a file, or whoever writes little would copy what others write much of.
 */
export const checkpointPages = maxWalPages - 96;

/** Commits after which a file is taken for one that is written to. */
export const commitsToFullLength = 16;

/** As many as are written at once: memory for all of them would set off the collector. */
const zerosAtOnce = 64 * 1024;

/** Zeros, or nothing: where there is no room for all of them, none is taken. */
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

/** No room for more bytes, or for one more open file. */
const noRoom: readonly string[] = ["ENOSPC", "EDQUOT", "EFBIG", "EMFILE", "ENFILE", "EACCES", "EPERM"];

const hasNoRoom = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && noRoom.includes(String(thrown.code));

const openOf = (wal: string): number | undefined => {
  if (!existsSync(wal) || isRestricted()) return undefined;
  try {
    return openSync(wal, "r+");
  } catch (thrown) {
    if (!hasNoRoom(thrown)) throw thrown;
    return undefined;
  }
};

/** Node's permission model has no syncs of a file's data. */
const isRestricted = (): boolean => process.permission !== undefined;

/**
 * Fills it up with zeros, which are no pages to SQLite. Inside a transaction that holds the lock of writers, before it
 * writes: so nobody else makes it longer meanwhile. Where there is no room, it goes on growing as there is; says whether
 * there was.
 */
export const preallocateWal = (file: string, pages = walPages): boolean => {
  const wal = openOf(`${file}-wal`);
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
