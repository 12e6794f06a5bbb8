/** Errors of a journal file, with stable codes. */
import { statSync, utimesSync } from "node:fs";
import type { NotWritten } from "@pawl/runtime/driver";

export type JournalFileCode =
  | "newer_schema"
  | "not_intact"
  | "full"
  | "locked"
  | "read_only"
  | "can_not_open"
  | "io_failed"
  | "file_gone"
  | "invalid_name"
  | "closed";

/** A file that cannot be used as a journal, or no longer. */
export class JournalFileError extends Error {
  override readonly name = "JournalFileError";
  readonly code: JournalFileCode;
  constructor(code: JournalFileCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** SQLite's primary result codes: the code of the journal and a remedy. */
const causes: { readonly [code: number]: readonly [JournalFileCode, string] } = {
  5: ["locked", "another process holds its lock: close it, or wait longer (`busyMs`)"],
  6: ["locked", "another connection holds its lock: close it, or wait longer (`busyMs`)"],
  8: ["read_only", "it cannot be written: check the permissions of the file and its folder"],
  10: ["io_failed", "the disk failed: see the system's log"],
  11: ["not_intact", "it is damaged: restore a backup, or export what can still be read"],
  13: ["full", "the disk is full: make room; nothing acknowledged is lost"],
  14: ["can_not_open", "it cannot be opened: check that the folder exists, and its permissions"],
  23: ["read_only", "writing is not allowed: check the permissions of the file and its folder"],
  26: ["not_intact", "it is not a SQLite database: check the path"],
};

/** SQLite's texts of those codes: Deno's errors have nothing else. */
const texts: readonly (readonly [text: string, code: number])[] = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["readonly database", 8],
  ["disk I/O error", 10],
  ["disk image is malformed", 11],
  ["disk is full", 13],
  ["unable to open database file", 14],
  ["not a database", 26],
];

const codeOf = (thrown: Error): number => {
  if ("errcode" in thrown) return Number(thrown.errcode) & 0xff;
  return texts.find(([text]) => thrown.message.includes(text))?.[1] ?? 0;
};

/** Tells whether another connection holds the lock. */
export const isLocked = (thrown: unknown): boolean => thrown instanceof Error && codeOf(thrown) === 5;

/**
 * Tells whether nothing can be written where the file is, as on a disk that has failed. The times of the file are set to what
 * they are: a kernel may let a file be opened for writing there, and refuse each write.
 */
const isOnReadOnlyDisk = (file: string): boolean => {
  try {
    const { atime, mtime } = statSync(file);
    utimesSync(file, atime, mtime);
    return false;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EROFS";
  }
};

const readOnlyDisk = ["read_only", "its file system is read-only: see the system's log, and make it writable"] as const;

/** Converts an error of SQLite; returns any other error unchanged. */
export const fileError = (thrown: unknown, file: string): unknown => {
  if (!(thrown instanceof Error) || thrown instanceof JournalFileError) return thrown;
  const known = causes[codeOf(thrown)];
  if (known === undefined) return thrown;
  const cause = known[0] === "io_failed" && isOnReadOnlyDisk(file) ? readOnlyDisk : known;
  return new JournalFileError(cause[0], `journal ${file}: ${thrown.message}; ${cause[1]}`);
};

export const failure = (thrown: unknown, file: string): NotWritten => {
  const error = fileError(thrown, file);
  if (error instanceof JournalFileError && error.code === "full") return { type: "full" };
  return { type: "failed", message: error instanceof Error ? error.message : String(error) };
};
