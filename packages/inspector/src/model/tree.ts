/** A state as a tree: one section a table, and what an event changed in each. */
import { type Difference, type PersistentMap, type State, differencesOf } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import { plain } from "./plain.ts";

export interface TreeRow {
  readonly key: string;
  readonly value: Json;
  readonly isChanged: boolean;
}

export interface Section {
  readonly name: string;
  /** How many rows there are; the first of them are shown, and those that changed. */
  readonly total: number;
  readonly rows: readonly TreeRow[];
}

export interface RowChange {
  readonly section: string;
  readonly key: string;
  readonly type: "new" | "gone" | "changed";
  readonly differences: readonly Difference[];
}

/** A table under one view, whatever holds its rows. */
interface Shelf {
  readonly name: string;
  readonly size: (state: State) => number;
  readonly at: (state: State, key: string) => unknown;
  readonly first: (state: State, count: number) => readonly (readonly [string, unknown])[];
  readonly changed: (before: State, after: State) => readonly string[];
}

/** What is used of the core's tables. */
interface Rows<Row> {
  readonly size: number;
  at(key: string): Row | undefined;
  rows(): Row[];
  changedSince(before: Rows<Row>): readonly string[];
}

/** Of more rows than these the oldest are not looked for. */
const sorted = 2_000;

const table = <Row>(
  name: string,
  of: (state: State) => Rows<Row>,
  placeOf: (row: Row) => { readonly key: string; readonly born: number },
): Shelf => ({
  name,
  size: (state) => of(state).size,
  at: (state, key) => of(state).at(key),
  first: (state, count) => {
    const rows = of(state).rows();
    const inOrder = rows.length > sorted ? rows : rows.toSorted((a, b) => placeOf(a).born - placeOf(b).born);
    return inOrder.slice(0, count).map((row) => [placeOf(row).key, row] as const);
  },
  changed: (before, after) => of(after).changedSince(of(before)),
});

const map = (name: string, of: (state: State) => PersistentMap<string, unknown>): Shelf => ({
  name,
  size: (state) => of(state).size,
  at: (state, key) => of(state).get(key),
  first: (state, count) => of(state).entries().slice(0, count),
  changed: (before, after) => {
    const [was, is] = [of(before), of(after)];
    if (was === is) return [];
    return [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  },
});

/** A part of the state that is no table: its fields are the rows. */
const part = (name: string, of: (state: State) => object | undefined): Shelf => {
  const fields = (state: State): { readonly [key: string]: unknown } => ({ ...of(state) });
  return {
    name,
    size: (state) => Object.keys(fields(state)).length,
    at: (state, key) => fields(state)[key],
    first: (state, count) => Object.entries(fields(state)).slice(0, count),
    changed: (before, after) => {
      const [was, is] = [fields(before), fields(after)];
      return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((key) => was[key] !== is[key]);
    },
  };
};

const shelves: readonly Shelf[] = [
  part("scope", ({ scope }) => scope),
  table(
    "calls",
    ({ calls }) => calls,
    ({ call: { ref, born } }) => ({ key: ref, born }),
  ),
  table(
    "requests",
    ({ requests }) => requests,
    ({ request, born }) => ({ key: request, born }),
  ),
  table(
    "batches",
    ({ batches }) => batches,
    ({ ref, born }) => ({ key: ref, born }),
  ),
  table(
    "waits",
    ({ waits }) => waits,
    ({ key, born }) => ({ key, born }),
  ),
  part("process", ({ process }) => process),
  part("run", ({ background }) => background.run),
  map("tasks", ({ background }) => background.tasks),
  map("schedules", ({ schedules }) => schedules.rows),
  map("flows", ({ flows }) => flows),
  map("handles", ({ handles }) => handles),
  map("links", ({ links }) => links),
  map("outbox", ({ outbox }) => outbox),
  map("sticky decisions", ({ sticky }) => sticky),
  map("tools", ({ catalog }) => catalog.byName),
];

/** So many rows of a section are shown, beside those that changed. */
const shown = 100;

const sectionOf = (shelf: Shelf, before: State, after: State): Section => {
  const changed = new Set(shelf.changed(before, after).filter((key) => shelf.at(after, key) !== undefined));
  const first = new Map(shelf.first(after, shown));
  const hidden = [...changed].filter((key) => !first.has(key)).slice(0, shown);
  const rows = [...first, ...hidden.map((key) => [key, shelf.at(after, key)] as const)];
  return {
    name: shelf.name,
    total: shelf.size(after),
    rows: rows.map(([key, row]) => ({ key, value: plain(row), isChanged: changed.has(key) })),
  };
};

/** The state after an event, with what differs from before marked. */
export const treeOf = (before: State, after: State): readonly Section[] =>
  shelves.map((shelf) => sectionOf(shelf, before, after)).filter(({ total }) => total > 0);

const typeOf = (was: unknown, is: unknown): RowChange["type"] => {
  if (was === undefined) return "new";
  return is === undefined ? "gone" : "changed";
};

/** So many changed rows are told of in full. */
const told = 60;

/** What an event changed, row by row, place by place. */
export const changesBetween = (before: State, after: State): readonly RowChange[] =>
  shelves
    .flatMap((shelf) => shelf.changed(before, after).map((key) => [shelf, key] as const))
    .slice(0, told)
    .map(([shelf, key]) => {
      const [was, is] = [shelf.at(before, key), shelf.at(after, key)];
      const type = typeOf(was, is);
      const differences = type === "changed" ? differencesOf(plain(was), plain(is)) : [];
      return { section: shelf.name, key, type, differences };
    });
