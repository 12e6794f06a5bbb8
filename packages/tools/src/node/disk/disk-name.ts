/** Names that are not what they seem on some disk: refused on all, so that a workspace can be carried from one to another. */
import { canonicalPath } from "../../file/path.ts";
import { FileError } from "../../file/store.ts";

const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?: *\..*)?$/i;
const temporary = /^\.pawl-write-[0-9a-f]{32}$/;
const mostBytes = 255;
const mostFolders = 128;

const misfitOf = (part: string, isWindows: boolean): string | undefined => {
  if (device.test(part)) return "names a device";
  if (/[. ]$/.test(part)) return "ends in a dot or a space, which some disks drop";
  if (isWindows && /[<>:"|?*]/.test(part)) return "has a character that no name has here";
  if (Buffer.byteLength(part) > mostBytes) return `has a name of more than ${mostBytes} bytes`;
  return /^\.pawl-write-/i.test(part) ? "is a name that the store writes under" : undefined;
};

/** The names of a canonical path, from the root down. Throws a FileError where one is refused. */
export const namesOf = (path: string, isWindows = process.platform === "win32"): readonly string[] => {
  const names = path.split("/").filter((name) => name !== "");
  const misfits = names.flatMap((name) => misfitOf(name, isWindows) ?? []);
  const [misfit] = names.length > mostFolders ? [`leads through more than ${mostFolders} folders`] : misfits;
  if (misfit !== undefined) throw new FileError("path", `Invalid path: ${JSON.stringify(path)} ${misfit}`);
  return names;
};

/** Whether a path can name what is on disk under this name. */
export const isNameable = (name: string): boolean => {
  try {
    return namesOf(canonicalPath(`/in/${name}`)).at(-1) === name;
  } catch (error) {
    if (error instanceof FileError) return false;
    throw error;
  }
};

/** What disks that tell less apart than others may take for the same name. */
export const foldedName = (name: string): string => name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");

/** A name under which nothing is kept: what is written gets its own when it is whole. */
export const temporaryName = (hex: string): string => `.pawl-write-${hex}`;
export const isTemporary = (name: string): boolean => temporary.test(name);
