/** Rows as they come out of the file, decoded before use. */
import type { SQLOutputValue } from "node:sqlite";
import { JournalFileError } from "./file-error.ts";

export type Row = { readonly [column: string]: SQLOutputValue };

const wrong = (column: string, wanted: string, found: SQLOutputValue | undefined): JournalFileError =>
  new JournalFileError("not_intact", `column ${column}: expected ${wanted}, found ${typeof found}: restore a copy`);

export const integer = (row: Row, column: string): number => {
  const value = row[column];
  if (typeof value !== "number") throw wrong(column, "an integer", value);
  return value;
};

export const text = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value !== "string") throw wrong(column, "a text", value);
  return value;
};

/** NULL is absence. */
export const optional = <A>(of: (row: Row, column: string) => A, row: Row, column: string): A | undefined =>
  row[column] === null ? undefined : of(row, column);
