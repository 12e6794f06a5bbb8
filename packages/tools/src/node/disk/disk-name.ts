/** Names that some file systems change or reserve. They are refused on all, so that a workspace can move between disks. */
import { canonicalPath } from "../../file/path.ts";
import { FileError } from "../../file/store.ts";

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *\..*)?$/i;
const temporary = /^\.pawl-write-[0-9a-f]{32}$/;
const maxBytes = 255;
const maxFolders = 128;

const problemOf = (part: string, isWindows: boolean): string | undefined => {
  if (device.test(part)) return "names a device";
  if (/[. ]$/.test(part)) return "ends in a dot or a space, which some disks drop";
  if (isWindows && /[<>:"|?*]/.test(part)) return "has a character that this system does not allow in names";
  if (Buffer.byteLength(part) > maxBytes) return `has a name of more than ${maxBytes} bytes`;
  return /^\.pawl-write-/i.test(part) ? "is reserved for temporary files" : undefined;
};

/** Splits a canonical path into names, from the root down. Throws a FileError if a name is refused. */
export const namesOf = (path: string, isWindows = process.platform === "win32"): readonly string[] => {
  const names = path.split("/").filter((name) => name !== "");
  const problems = names.flatMap((name) => problemOf(name, isWindows) ?? []);
  const [problem] = names.length > maxFolders ? [`has more than ${maxFolders} folders`] : problems;
  if (problem !== undefined) throw new FileError("path", `Invalid path: ${JSON.stringify(path)} ${problem}`);
  return names;
};

/** Returns true if a path can name this entry of a disk. */
export const isNameable = (name: string): boolean => {
  try {
    return namesOf(canonicalPath(`/in/${name}`)).at(-1) === name;
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
};

/** Folds a name as a case-insensitive or normalizing file system may do. */
export const foldedName = (name: string): string => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");

/** Returns the name of a temporary file, which is renamed once it is complete. */
export const temporaryName = (hex: string): string => `.pawl-write-${hex}`;
export const isTemporary = (name: string): boolean => temporary.test(name);
