/** What a model may read of a store's error: what it can mend. Stores that throw plain errors are understood by their words. */
import { FileError } from "./store.ts";

export type Mendable = FileError["kind"];

/** The first that fits counts. */
const kinds: readonly (readonly [kind: Mendable, words: RegExp])[] = [
  ["readonly", /readonly/],
  ["is_directory", /is a directory/],
  ["not_directory", /not a directory/],
  ["not_empty", /not empty|recursive/],
  ["not_found", /not found/],
];

const kindOf = (message: string, mendable: readonly Mendable[]): Mendable | undefined => {
  if (mendable.includes("pattern")) return /regex|pattern/.test(message) ? "pattern" : undefined;
  const kind = kinds.find(([, words]) => words.test(message))?.[0];
  return kind !== undefined && mendable.includes(kind) ? kind : undefined;
};

/** `mendable`: what a caller of this tool can do something about, where the error does not say what it is. */
export const readableText = (error: unknown, mendable: readonly Mendable[]): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  const kind = error instanceof FileError ? error.kind : kindOf(error.message, mendable);
  if (kind === undefined) return undefined;
  return kind === "pattern" ? `Invalid regex pattern: ${error.message}` : error.message;
};
