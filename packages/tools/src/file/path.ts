/**
 * Paths of a session's files. `/workspace/x`, `/x` and `x` are one file. What could lead out of the folder, or be two
 * files where a disk sees one, is refused: `..`, NUL, backslashes, drive letters, and other forms of the same letters.
 */
import { FileError } from "./store.ts";

const workspace = "/workspace";

const refused = (path: string, why: string): FileError =>
  new FileError("path", `Invalid path: ${JSON.stringify(path)} ${why}`);

const misfitOf = (part: string): string | undefined => {
  if (part === "..") return "leads out of the workspace";
  if (part.normalize("NFC") !== part) return "is not in Unicode normal form (NFC)";
  return /^[A-Za-z]:$/.test(part) ? "names a drive" : undefined;
};

const hasControl = (path: string): boolean =>
  [...path].some((char) => (char.codePointAt(0) ?? 0) < 0x20 || char === "\u007F");

/** The one form of a path, from the root: `/` alone, or `/a/b`. Throws a FileError where it names no file of here. */
export const canonicalPath = (path: string): string => {
  if (hasControl(path) || !path.isWellFormed()) throw refused(path, "has characters that no name has");
  if (path.includes("\\")) throw refused(path, "has a backslash: use `/`");
  const isInside = path === workspace || path.startsWith(`${workspace}/`);
  const parts = (isInside ? path.slice(workspace.length) : path)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  for (const part of parts) {
    const misfit = misfitOf(part);
    if (misfit !== undefined) throw refused(path, misfit);
  }
  return `/${parts.join("/")}`;
};

/** A path as it is shown. */
export const displayPath = (path: string): string => (path === "/" ? workspace : workspace + path);

export const parentOf = (path: string): string => {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
};
export const nameOf = (path: string): string => (path === "/" ? "workspace" : path.slice(path.lastIndexOf("/") + 1));
