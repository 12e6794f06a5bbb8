/** Which files and which lines a search is after. */
import { FileError, type Match } from "./store.ts";

/** A pattern of paths: `*` and `?` within a name, `**` over folders; it need not begin at the root. */
export const globOf = (pattern: string): RegExp => {
  const text = pattern
    .replace(/^\/workspace(?=\/|$)/, "")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("**", "\u0000")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
    .replaceAll("\u0000", ".*");
  return new RegExp(`(?:^|/)${text.replace(/^\//, "")}$`);
};

export const expressionOf = (pattern: string): RegExp => {
  try {
    return new RegExp(pattern, "u");
  } catch (error) {
    throw new FileError("pattern", error instanceof Error ? error.message : "the pattern is no regular expression");
  }
};

export const linesOf = (text: string): readonly string[] => text.split("\n");

export const matchesOf = (path: string, text: string, isHit: (line: string, i: number) => boolean): readonly Match[] =>
  linesOf(text).flatMap((line, i) =>
    isHit(line, i) ? [{ path, line_number: i + 1, line: line.replace(/\r$/, "") }] : [],
  );
