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

/**
 * Loads RE2, and compiles an expression whose search takes time in proportion to the text, whatever it says: one without
 * look-around and back references. RE2 is large, so pages load it with the first search.
 */
export const linearSearch = async (pattern: string): Promise<(line: string) => boolean> => {
  const { RE2JS } = await import("re2js");
  try {
    const expression = RE2JS.compile(pattern);
    return (line) => expression.matcher(line).find();
  } catch (error) {
    throw new FileError("pattern", error instanceof Error ? error.message : "the pattern is no regular expression");
  }
};

/** The lines of a text, without their ends; a newline at its end begins no line. */
export const linesOf = (text: string): readonly string[] => {
  const lines = text.split("\n");
  const own = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  return own.map((line) => line.replace(/\r$/, ""));
};

export const matchesOf = (path: string, text: string, isHit: (line: string, i: number) => boolean): readonly Match[] =>
  linesOf(text).flatMap((line, i) => (isHit(line, i) ? [{ path, line_number: i + 1, line }] : []));
