/** Patterns of a search: globs for paths, regular expressions for lines. Both come from models, so they search in linear time. */
import { type PatternFlags, linearPattern } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { FileError, type Match } from "./store.ts";

const flagsOf: { readonly [written: string]: PatternFlags } = {
  "(?i)": "i",
  "(?s)": "s",
  "(?is)": "is",
  "(?si)": "is",
};

/**
 * Compiles a regular expression of Unicode mode, without look-around and back references. It may begin with flags, as
 * models know them from other tools: `(?i)`.
 */
export const expressionOf = (pattern: string): ((text: string) => boolean) => {
  const [written = ""] = /^\(\?[is]+\)/.exec(pattern) ?? [];
  const flags = flagsOf[written];
  const compiled = flags === undefined ? linearPattern(pattern) : linearPattern(pattern.slice(written.length), flags);
  if (E.isLeft(compiled)) throw new FileError("pattern", compiled.left);
  return compiled.right;
};

/** Compiles a glob: `*` and `?` match within a name, `**` across folders. It may match below any folder. */
export const globOf = (pattern: string): ((path: string) => boolean) => {
  const text = pattern
    .replace(/^\/workspace(?=\/|$)/, "")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("**", "\u0000")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
    .replaceAll("\u0000", ".*");
  return expressionOf(`(?:^|/)${text.replace(/^\//, "")}$`);
};

/** Splits a text into lines without their line ends. A final line end begins no line. */
export const linesOf = (text: string): readonly string[] => {
  const lines = text.split("\n");
  const own = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  return own.map((line) => line.replace(/\r$/, ""));
};

export const matchesOf = (path: string, text: string, isHit: (line: string) => boolean): readonly Match[] =>
  linesOf(text).flatMap((line, i) => (isHit(line) ? [{ path, line_number: i + 1, line }] : []));
