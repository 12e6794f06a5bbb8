/**
 * The write-ahead log at its full length. SQLite lets it grow page by page until the first checkpoint, and then writes it
 * from its start again; but the sync of a file that grows waits for the books of the file system too, twice as long.
 */
import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";

/** As many pages as SQLite writes before it makes a checkpoint, and some: a page has a head of 24 bytes. */
const fullBytes = 1024 * (4096 + 24);

/** Commits after which a file is taken for one that is written to. */
export const commitsToFullLength = 16;

/** As many as are written at once: memory for all of them would set off the collector. */
const zerosAtOnce = 64 * 1024;

/** Zeros, or nothing: where there is no room for all of them, none is taken. */
const fill = (wal: number, from: number): void => {
  const zeros = new Uint8Array(zerosAtOnce);
  try {
    for (let at = from; at < fullBytes;) at += writeSync(wal, zeros, 0, Math.min(zeros.length, fullBytes - at), at);
    fdatasyncSync(wal);
  } catch (thrown) {
    ftruncateSync(wal, from);
    throw thrown;
  }
};

const hasNoRoom = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && ["ENOSPC", "EDQUOT", "EFBIG"].includes(String(thrown.code));

/**
 * Fills it up with zeros, which are no pages to SQLite. Inside a transaction that holds the lock of writers, before it
 * writes: so nobody else makes it longer meanwhile. Where there is no room, it goes on growing as there is.
 */
export const fillWal = (file: string): void => {
  if (!existsSync(`${file}-wal`)) return;
  const wal = openSync(`${file}-wal`, "r+");
  try {
    const { size } = fstatSync(wal);
    if (size < fullBytes) fill(wal, size);
  } catch (thrown) {
    if (!hasNoRoom(thrown)) throw thrown;
  } finally {
    closeSync(wal);
  }
};
