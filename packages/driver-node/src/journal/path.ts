/** Where a journal lies, as its program names it: looked at before anything is opened or made. */
import { type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { JournalFileError } from "../sqlite/file-error.ts";

/** The name of a journal that lies in memory, and that ends with its process. */
export const inMemory = ":memory:";

const cannotOpen = (message: string): JournalFileError => new JournalFileError("can_not_open", message);

const shown = (found: unknown): string => (typeof found === "string" ? JSON.stringify(found) : String(found));

/** A path, whole: it stays the same when the process goes to another folder. */
const pathOf = (what: string, found: unknown): string => {
  if (found instanceof URL || (typeof found === "string" && found.startsWith("file:")))
    throw cannotOpen(`${what} is a URL, ${shown(found)}: give its path (\`fileURLToPath\` of node:url)`);
  if (typeof found !== "string" || found.trim() === "")
    throw cannotOpen(`${what}: expected a path, found ${shown(found)}`);
  return resolve(found);
};

/** What is at a path; undefined where nothing is, or nobody may look. */
const statAt = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // Whoever opens it says what is wrong.
  }
};

const refuseNonFolder = (what: string, folder: string): void => {
  const there = statAt(folder);
  if (there !== undefined && !there.isDirectory()) throw cannotOpen(`${what}: ${folder} is no folder`);
};

/** The file of a journal, whether it is there or is to be made. */
export const journalPathOf = (file: unknown): string => {
  if (file === inMemory) return inMemory;
  const path = pathOf("a journal", file);
  const folder = dirname(path);
  if (statAt(path)?.isDirectory() === true) throw cannotOpen(`journal ${path} is a folder: name a file in it`);
  refuseNonFolder(`journal ${path}`, folder);
  if (statAt(folder) === undefined)
    throw cannotOpen(`journal ${path}: its folder ${folder} is not there, or may not be entered: make it first`);
  return path;
};

/** The folder of a journal's large values: beside it, unless it is said. It is made when it is needed. */
export const blobsPathOf = (file: string, blobs: unknown): string => {
  const folder = blobs === undefined ? `${file}.blobs` : pathOf("the folder of blobs", blobs);
  refuseNonFolder(`the blobs of journal ${file}`, folder);
  return folder;
};
