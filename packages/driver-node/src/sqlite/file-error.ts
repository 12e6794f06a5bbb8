/** What can be wrong with a journal file, in stable codes. */
import type { NotWritten } from "@pawl/runtime";

export const failure = (thrown: unknown, file: string): NotWritten => {
  const error = fileError(thrown, file);
  if (error instanceof JournalFileError && error.code === "full") return { type: "full" };
  return { type: "failed", message: error instanceof Error ? error.message : String(error) };
};

export type JournalFileCode =
  | "newer_schema"
  | "not_intact"
  | "full"
  | "locked"
  | "read_only"
  | "can_not_open"
  | "io_failed"
  | "closed";

/** A file that can not be used as a journal, or no longer. */
export class JournalFileError extends Error {
  override readonly name = "JournalFileError";
  readonly code: JournalFileCode;
  constructor(code: JournalFileCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** SQLite's primary result codes, and what to do about each. */
const causes: { readonly [code: number]: readonly [JournalFileCode, string] } = {
  5: ["locked", "another process holds its lock: close that one, or wait longer (`busyMs`)"],
  6: ["locked", "another connection holds its lock: close that one, or wait longer (`busyMs`)"],
  8: ["read_only", "it can not be written: check the rights of the file and its folder"],
  10: ["io_failed", "the disk failed: look at the system's log"],
  11: ["not_intact", "it is damaged: restore a copy, or export what can be read"],
  13: ["full", "the disk is full: make room; what was acknowledged is there"],
  14: ["can_not_open", "it can not be opened: check that the folder is there, and its rights"],
  23: ["read_only", "it may not be written: check the rights of the file and its folder"],
  26: ["not_intact", "it is no SQLite database: check the path"],
};

const codeOf = (thrown: Error): number => ("errcode" in thrown ? Number(thrown.errcode) & 0xff : 0);

/** Whether another connection stands in the way. */
export const isLocked = (thrown: unknown): boolean => thrown instanceof Error && codeOf(thrown) === 5;

/** What SQLite threw, in the journal's words; anything else as it is. */
export const fileError = (thrown: unknown, file: string): unknown => {
  if (!(thrown instanceof Error) || thrown instanceof JournalFileError) return thrown;
  const cause = causes[codeOf(thrown)];
  if (cause === undefined) return thrown;
  return new JournalFileError(cause[0], `journal ${file}: ${thrown.message}; ${cause[1]}`);
};
