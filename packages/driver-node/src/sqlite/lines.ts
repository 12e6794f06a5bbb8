/** Reads the appends of a scope, newest first, and the lines in them. */
import type { JournalLine } from "@pawl/runtime/driver";
import type { Connection } from "./connection.ts";
import { JournalFileError } from "./file-error.ts";
import { type Row, integer, optional, text } from "./sql.ts";

/** An append without its lines. */
export interface Place {
  readonly row: number;
  readonly before: number | undefined;
  readonly first: number;
  readonly last: number;
}

export const placeAt = ({ sql }: Connection, row: number): Place => {
  const found = sql.place.get(row);
  if (found === undefined)
    throw new JournalFileError("not_intact", `append ${row} is missing: restore a backup of the file`);
  const [before, first, last] = [optional(integer, found, "before"), integer(found, "first"), integer(found, "last")];
  return { row, before, first, last };
};

/** Yields appends from a row backwards, down to a sequence. Leaves out the empty row that retention keeps. */
export function* appendsBackwards(connection: Connection, head: number | undefined, downTo: number): Generator<Place> {
  for (let row = head; row !== undefined;) {
    const place = placeAt(connection, row);
    if (place.last < downTo || place.first > place.last) return;
    yield place;
    row = place.before;
  }
}

/** Returns all lines of an append as one text. */
export const textAt = ({ sql }: Connection, { row }: Place): string => text(sql.row.get(row) ?? {}, "lines");

/** Splits a text into lines that keep their line feed. */
const linesOf = (lines: string): readonly string[] =>
  lines
    .split("\n")
    .slice(0, -1)
    .map((line) => `${line}\n`);

/** Returns the lines of an append. */
export const textsAt = (connection: Connection, place: Place): readonly string[] => linesOf(textAt(connection, place));

/** Adds the lines of a row that lie between two sequences. */
const putLines = (row: Row, from: number, to: number, into: JournalLine[]): void => {
  const [lines, first] = [text(row, "lines"), integer(row, "first")];
  for (let seq = first, at = 0; at < lines.length && seq <= to; seq++) {
    const end = lines.indexOf("\n", at) + 1 || lines.length;
    if (seq >= from) into.push({ seq, line: lines.slice(at, end) });
    at = end;
  }
};

/** Throws if the walk ended because a row is missing, not at its goal or where retention has cut. */
const refuseMissingRow = (
  connection: Connection,
  head: number | undefined,
  oldest: Row | undefined,
  from: number,
): void => {
  if (oldest !== undefined && integer(oldest, "first") <= from) return;
  const next = oldest === undefined ? head : optional(integer, oldest, "before");
  if (next !== undefined) placeAt(connection, next);
};

const byFirst = (a: Row, b: Row): number => integer(a, "first") - integer(b, "first");

interface Log {
  readonly id: number;
  readonly head: number | undefined;
  readonly seq: number;
}

/** Maximum number of rows that are scanned before the newest one. */
const maxNearRows = 4096;

/** Tells whether rows follow each other without a gap up to a sequence. */
const isContiguousTo = (rows: readonly Row[], to: number): boolean => {
  let next = rows[0] === undefined ? Infinity : integer(rows[0], "first");
  for (const row of rows) {
    if (integer(row, "first") !== next) return false;
    next = integer(row, "last") + 1;
  }
  return rows.length > 0 && next > to;
};

const rowsBack = (connection: Connection, head: number | undefined, from: number, upTo: number): readonly Row[] => {
  const rows = connection.sql.back.all(head ?? null, from, from, upTo).toSorted(byFirst);
  refuseMissingRow(connection, head, rows[0], from);
  return rows;
};

/** Reads recent rows by scanning, which takes half the time of walking back row by row. Older rows are walked to. */
const rowsOf = (connection: Connection, { id, head, seq }: Log, from: number, upTo: number): readonly Row[] => {
  const span = seq - from + 1;
  const isNear = head !== undefined && span <= maxNearRows;
  const near = isNear ? connection.sql.near.all(head - span, head, id, from, upTo) : [];
  const [oldest] = near;
  if (oldest === undefined || !isContiguousTo(near, Math.min(seq, upTo))) return rowsBack(connection, head, from, upTo);
  const first = integer(oldest, "first");
  return first <= from
    ? near
    : [...rowsBack(connection, optional(integer, oldest, "before"), from, first - 1), ...near];
};

export const readLines = (connection: Connection, log: Log, from: number, to: number): readonly JournalLine[] => {
  const upTo = Math.min(to, Number.MAX_SAFE_INTEGER);
  const rows = rowsOf(connection, log, from, upTo);
  const lines: JournalLine[] = [];
  for (const row of connection.sql.kept.all(log.id, from, upTo))
    lines.push({ seq: integer(row, "seq"), line: text(row, "line") });
  for (const row of rows) putLines(row, from, to, lines);
  return lines;
};
