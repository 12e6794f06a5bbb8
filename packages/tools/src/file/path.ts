/**
 * The paths of a session's files. `/workspace/x`, `/x` and `x` are the same file. A path is refused if it could leave the
 * folder, or if a disk could take two paths for one file: `..`, NUL, backslashes, drive letters, and Unicode not in NFC.
 */
import { FileError } from "./store.ts";

const workspace = "/workspace";

const refused = (path: string, why: string): FileError =>
  new FileError("path", `Invalid path: ${JSON.stringify(path)} ${why}`);

const problemOf = (part: string): string | undefined => {
  if (part === "..") return "leads out of the workspace";
  if (part.normalize("NFC") !== part) return "is not in Unicode normal form (NFC)";
  return /^[A-Za-z]:$/.test(part) ? "names a drive" : undefined;
};

const hasControl = (path: string): boolean =>
  [...path].some((char) => (char.codePointAt(0) ?? 0) < 0x20 || char === "\u007F");

/** Returns the canonical form of a path: `/`, or `/a/b`. Throws a FileError for a path that is refused. */
export const canonicalPath = (path: string): string => {
  if (hasControl(path) || !path.isWellFormed()) throw refused(path, "has characters that are not allowed in names");
  if (path.includes("\\")) throw refused(path, "has a backslash: use `/`");
  const isInside = path === workspace || path.startsWith(`${workspace}/`);
  const parts = (isInside ? path.slice(workspace.length) : path)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== undefined) throw refused(path, problem);
  }
  return `/${parts.join("/")}`;
};

/** Returns a canonical path as models see it, below `/workspace`. */
export const displayPath = (path: string): string => (path === "/" ? workspace : workspace + path);

export const parentOf = (path: string): string => {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
};
export const nameOf = (path: string): string => (path === "/" ? "workspace" : path.slice(path.lastIndexOf("/") + 1));
