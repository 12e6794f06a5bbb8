/** The rows of a scope, from its newest backwards, and the lines in them. */
import type { JournalLine } from "@pawl/runtime";
import type { Connection } from "./connection.ts";
import { JournalFileError } from "./file-error.ts";
import { integer, optional, text } from "./row.ts";

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

/** Places from a row backwards, as long as they reach further than a sequence; the empty one of retention is left out. */
export function* placesBack(at: Connection, head: number | undefined, downTo: number): Generator<Place> {
  for (let row = head; row !== undefined;) {
    const place = placeAt(at, row);
    if (place.last < downTo || place.first > place.last) return;
    yield place;
    row = place.before;
  }
}

/** All lines of one append, as they are stored. */
export const textAt = ({ sql }: Connection, { row }: Place): string => text(sql.row.get(row) ?? {}, "lines");

/** The lines of one append, each with its line feed. */
export const textsAt = (at: Connection, place: Place): readonly string[] =>
  textAt(at, place)
    .split("\n")
    .slice(0, -1)
    .map((line) => `${line}\n`);

const linesAt = (at: Connection, place: Place): readonly JournalLine[] =>
  textsAt(at, place).map((line, i) => ({ seq: place.first + i, line }));

export const readLines = (
  at: Connection,
  { id, head }: { readonly id: number; readonly head: number | undefined },
  from: number,
  to: number,
): readonly JournalLine[] => {
  const places = [...placesBack(at, head, from)].filter(({ first }) => first <= to).toReversed();
  const kept = at.sql.kept.all(id, from, Math.min(to, Number.MAX_SAFE_INTEGER));
  return [
    ...kept.map((row) => ({ seq: integer(row, "seq"), line: text(row, "line") })),
    ...places.flatMap((place) => linesAt(at, place)).filter(({ seq }) => seq >= from && seq <= to),
  ];
};
