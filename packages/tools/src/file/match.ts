/** Patterns of a search: globs for paths, regular expressions for lines. */
import { FileError, type Match } from "./store.ts";

/** Compiles a glob: `*` and `?` match within a name, `**` across folders. It may match below any folder. */
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
    throw new FileError("pattern", error instanceof Error ? error.message : "the pattern is not a regular expression");
  }
};

/** Loads RE2, and compiles an expression that searches in linear time: without look-around and back references. */
export const linearSearch = async (pattern: string): Promise<(line: string) => boolean> => {
  const { RE2JS } = await import("re2js"); // Large: a page loads it with its first search.
  try {
    const expression = RE2JS.compile(pattern);
    return (line) => expression.matcher(line).find();
  } catch (error) {
    throw new FileError("pattern", error instanceof Error ? error.message : "the pattern is not a regular expression");
  }
};

/** Splits a text into lines without their line ends. A final line end begins no line. */
export const linesOf = (text: string): readonly string[] => {
  const lines = text.split("\n");
  const own = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  return own.map((line) => line.replace(/\r$/, ""));
};

export const matchesOf = (path: string, text: string, isHit: (line: string, i: number) => boolean): readonly Match[] =>
  linesOf(text).flatMap((line, i) => (isHit(line, i) ? [{ path, line_number: i + 1, line }] : []));
