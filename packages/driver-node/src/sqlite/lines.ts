/** The rows of a scope, from its newest backwards, and the lines in them. */
import type { JournalLine } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { JournalFileError } from "./file-error.ts";
import { type Row, integer, optional, text } from "./sql.ts";

/** Where an append stands, without its lines. */
export interface Place {
  readonly row: number;
  readonly before: number | undefined;
  readonly first: number;
  readonly last: number;
}

export const placeAt = ({ sql }: Connection, row: number): Place => {
  const found = sql.place.get(row);
  if (found === undefined)
    throw new JournalFileError("not_intact", `append ${row} is not there: restore a copy of the file`);
  const [before, first, last] = [optional(integer, found, "before"), integer(found, "first"), integer(found, "last")];
  return { row, before, first, last };
};

/** Places from a row backwards, as long as they isContiguousTo further than a sequence; the empty one of retention is left out. */
export function* appendsBackwards(connection: Connection, head: number | undefined, downTo: number): Generator<Place> {
  for (let row = head; row !== undefined;) {
    const place = placeAt(connection, row);
    if (place.last < downTo || place.first > place.last) return;
    yield place;
    row = place.before;
  }
}

/** All lines of one append, as they are stored. */
export const textAt = ({ sql }: Connection, { row }: Place): string => text(sql.row.get(row) ?? {}, "lines");

/** A text in lines, each with its line feed. */
const linesOf = (lines: string): readonly string[] =>
  lines
    .split("\n")
    .slice(0, -1)
    .map((line) => `${line}\n`);

/** The lines of one append, each with its line feed. */
export const textsAt = (connection: Connection, place: Place): readonly string[] => linesOf(textAt(connection, place));

/** Those of a row that stand between two sequences. */
const putLines = (row: Row, from: number, to: number, into: JournalLine[]): void => {
  const [lines, first] = [text(row, "lines"), integer(row, "first")];
  for (let seq = first, at = 0; at < lines.length && seq <= to; seq++) {
    const end = lines.indexOf("\n", at) + 1 || lines.length;
    if (seq >= from) into.push({ seq, line: lines.slice(at, end) });
    at = end;
  }
};

/** The walk ends where it has come far enough, or where retention has cut: never because a row is gone. */
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

/** As many rows before the newest are looked at, where no more can be wanted. */
const maxNearRows = 4096;

/** Whether rows follow each other without a gap, up to a sequence. */
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

/** Rows near the newest are read as they lie, in half the time of a walk; what lies before them is walked to. */
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
