/** Errors of a journal file, with stable codes. */
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

const codeOf = (thrown: Error): number => ("errcode" in thrown ? Number(thrown.errcode) & 0xff : 0);

/** Tells whether another connection holds the lock. */
export const isLocked = (thrown: unknown): boolean => thrown instanceof Error && codeOf(thrown) === 5;

/** Converts an error of SQLite; returns any other error unchanged. */
export const fileError = (thrown: unknown, file: string): unknown => {
  if (!(thrown instanceof Error) || thrown instanceof JournalFileError) return thrown;
  const cause = causes[codeOf(thrown)];
  if (cause === undefined) return thrown;
  return new JournalFileError(cause[0], `journal ${file}: ${thrown.message}; ${cause[1]}`);
};

export const failure = (thrown: unknown, file: string): NotWritten => {
  const error = fileError(thrown, file);
  if (error instanceof JournalFileError && error.code === "full") return { type: "full" };
  return { type: "failed", message: error instanceof Error ? error.message : String(error) };
};
