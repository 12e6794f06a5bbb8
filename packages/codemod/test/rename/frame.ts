/** Compares programs before and after a renaming. */
import { expect } from "vitest";
import { type Renaming, rewrite } from "../../src/index.ts";

/** Rewrites a program with one renaming, and checks that a second run leaves the result as it is. */
export const rewritten = (renaming: Renaming, before: string, file = "program.ts"): string => {
  const { text } = rewrite(file, before, [renaming]);
  expect(rewrite(file, text, [renaming]).text).toBe(text);
  return text;
};

/** Returns what a person is told to look at, as `line: message`. */
export const notesOf = (renaming: Renaming, before: string, file = "program.ts"): readonly string[] =>
  rewrite(file, before, [renaming]).notes.map(({ line, message }) => `${line}: ${message}`);
