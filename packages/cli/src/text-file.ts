/** Reads files for the command line. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { CliError, exit } from "./exit.ts";

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";

const reasons: { readonly [code: string]: string } = {
  ENOENT: "the file does not exist",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
};

const unreadable = (file: string, thrown: unknown): CliError => {
  const code = codeOf(thrown);
  const why = reasons[code] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new CliError("file_unreadable", `${file}: ${why}`, { exit: exit.unreachable });
};

export const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const chunkBytes = 1 << 18;

/** Yields a file's text in pieces. Opens it at the first one. */
export function* textOfFile(file: string): Generator<string, undefined> {
  const decoder = new StringDecoder("utf8");
  const bytes = Buffer.alloc(chunkBytes);
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
  try {
    for (;;) {
      const length = readSync(fd, bytes);
      if (length === 0) break;
      yield decoder.write(bytes.subarray(0, length));
    }
    const rest = decoder.end();
    if (rest !== "") yield rest;
    return undefined;
  } catch (thrown) {
    throw thrown instanceof CliError || codeOf(thrown) === "" ? thrown : unreadable(file, thrown);
  } finally {
    closeSync(fd);
  }
}

const sqliteMagic = "SQLite format 3\0";

/** Tells whether a file is a SQLite database. Throws if it cannot be read. */
export const isJournalFile = (file: string): boolean => {
  try {
    const fd = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(sqliteMagic.length);
      return readSync(fd, bytes, 0, bytes.length, 0) === bytes.length && bytes.toString("latin1") === sqliteMagic;
    } finally {
      closeSync(fd);
    }
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
};
