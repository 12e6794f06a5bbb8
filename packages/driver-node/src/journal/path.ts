/** Checks the paths of a journal before anything is opened or created. */
import { type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { JournalFileError } from "../sqlite/file-error.ts";

/** The name of a journal in memory. It ends with its process. */
export const inMemory = ":memory:";

const cannotOpen = (message: string): JournalFileError => new JournalFileError("can_not_open", message);

const shown = (found: unknown): string => (typeof found === "string" ? JSON.stringify(found) : String(found));

/** Returns an absolute path, so that a later `chdir` does not change it. */
const pathOf = (what: string, found: unknown): string => {
  if (found instanceof URL || (typeof found === "string" && found.startsWith("file:")))
    throw cannotOpen(`${what} is a URL, ${shown(found)}: pass its path (\`fileURLToPath\` of node:url)`);
  if (typeof found !== "string" || found.trim() === "")
    throw cannotOpen(`${what}: expected a path, found ${shown(found)}`);
  return resolve(found);
};

/** Returns the stats of a path, or undefined if it does not exist or cannot be read. */
const statAt = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // Opening the file reports the reason.
  }
};

const refuseNonFolder = (what: string, folder: string): void => {
  const there = statAt(folder);
  if (there !== undefined && !there.isDirectory()) throw cannotOpen(`${what}: ${folder} is not a folder`);
};

/** Returns the absolute path of a journal that exists or can be created. */
export const journalPathOf = (file: unknown): string => {
  if (file === inMemory) return inMemory;
  const path = pathOf("a journal", file);
  const folder = dirname(path);
  if (statAt(path)?.isDirectory() === true) throw cannotOpen(`journal ${path} is a folder: name a file in it`);
  refuseNonFolder(`journal ${path}`, folder);
  if (statAt(folder) === undefined)
    throw cannotOpen(`journal ${path}: its folder ${folder} does not exist or cannot be entered: create it first`);
  return path;
};

/** Returns the folder of large values, by default beside the journal. It is created when needed. */
export const blobsPathOf = (file: string, blobs: unknown): string => {
  const folder = blobs === undefined ? `${file}.blobs` : pathOf("the folder of blobs", blobs);
  refuseNonFolder(`the blobs of journal ${file}`, folder);
  return folder;
};
