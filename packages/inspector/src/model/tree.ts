/** A state as a tree, with one section for each table, and the rows that an event changed. */
import type { State } from "@pawl/sansio-core";
import { type Difference, PersistentMap, differencesOf } from "@pawl/sansio-core/driver";
import { type Json, type ToolValue, encode, isAttachment } from "@pawl/tool-value";

const entriesOf = (value: object): readonly (readonly [string, unknown])[] =>
  value instanceof PersistentMap
    ? value.entries().map(([key, row]) => [String(key), row] as const)
    : Object.entries(value);

/** A log may nest deeper than a stack: a deeper value could neither be cloned from a worker nor be opened in the page. */
const maxDepth = 300;
const cut = "…";

/** Converts a value of the state to plain JSON. */
export const plain = (value: unknown, depth = 0): Json => {
  if (typeof value !== "object" || value === null) return value === undefined ? null : (value as Json);
  if (depth === maxDepth) return cut;
  if (isAttachment(value)) return encode(value as ToolValue);
  if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1));
  const fields = entriesOf(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, plain(field, depth + 1)])) as Json;
};

export interface TreeRow {
  readonly key: string;
  readonly value: Json;
  readonly isChanged: boolean;
}

export interface Section {
  readonly name: string;
  /** The number of rows. Only the first ones and the changed ones are in `rows`. */
  readonly total: number;
  readonly rows: readonly TreeRow[];
}

export interface RowChange {
  readonly section: string;
  readonly key: string;
  readonly type: "new" | "gone" | "changed";
  readonly differences: readonly Difference[];
}

/** A uniform view on a table of the state. */
interface Table {
  readonly name: string;
  readonly size: (state: State) => number;
  readonly at: (state: State, key: string) => unknown;
  readonly first: (state: State, count: number) => readonly (readonly [string, unknown])[];
  readonly changed: (before: State, after: State) => readonly string[];
}

/** The part of the core's tables that is used here. */
interface Rows<Row> {
  readonly size: number;
  at(key: string): Row | undefined;
  rows(): Row[];
  changedSince(before: Rows<Row>): readonly string[];
}

/** Tables with more rows are not sorted by age. */
const maxSorted = 2_000;

const ofRows = <Row>(
  name: string,
  of: (state: State) => Rows<Row>,
  placeOf: (row: Row) => { readonly key: string; readonly born: number },
): Table => ({
  name,
  size: (state) => of(state).size,
  at: (state, key) => of(state).at(key),
  first: (state, count) => {
    const rows = of(state).rows();
    const inOrder = rows.length > maxSorted ? rows : rows.toSorted((a, b) => placeOf(a).born - placeOf(b).born);
    return inOrder.slice(0, count).map((row) => [placeOf(row).key, row] as const);
  },
  changed: (before, after) => of(after).changedSince(of(before)),
});

const ofMap = (name: string, of: (state: State) => PersistentMap<string, unknown>): Table => ({
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

/** Views a part of the state that is not a table: its fields are the rows. */
const ofFields = (name: string, of: (state: State) => object | undefined): Table => {
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

const tables: readonly Table[] = [
  ofFields("scope", ({ scope }) => scope),
  ofRows(
    "calls",
    ({ calls }) => calls,
    ({ call: { ref, born } }) => ({ key: ref, born }),
  ),
  ofRows(
    "requests",
    ({ requests }) => requests,
    ({ request, born }) => ({ key: request, born }),
  ),
  ofRows(
    "batches",
    ({ batches }) => batches,
    ({ ref, born }) => ({ key: ref, born }),
  ),
  ofRows(
    "waits",
    ({ waits }) => waits,
    ({ key, born }) => ({ key, born }),
  ),
  ofFields("process", ({ process }) => process),
  ofFields("run", ({ background }) => background.run),
  ofMap("tasks", ({ background }) => background.tasks),
  ofMap("schedules", ({ schedules }) => schedules.rows),
  ofMap("flows", ({ flows }) => flows),
  ofMap("handles", ({ handles }) => handles),
  ofMap("links", ({ links }) => links),
  ofMap("outbox", ({ outbox }) => outbox),
  ofMap("sticky decisions", ({ sticky }) => sticky),
  ofMap("tools", ({ catalog }) => catalog.byName),
];

/** The rows of a section besides the changed ones. */
const maxRows = 100;

const sectionOf = (table: Table, before: State, after: State): Section => {
  const changed = new Set(table.changed(before, after).filter((key) => table.at(after, key) !== undefined));
  const first = new Map(table.first(after, maxRows));
  const hidden = [...changed].filter((key) => !first.has(key)).slice(0, maxRows);
  const rows = [...first, ...hidden.map((key) => [key, table.at(after, key)] as const)];
  return {
    name: table.name,
    total: table.size(after),
    rows: rows.map(([key, row]) => ({ key, value: plain(row), isChanged: changed.has(key) })),
  };
};

/** Returns the state after an event, with the changed rows marked. */
export const treeOf = (before: State, after: State): readonly Section[] =>
  tables.map((table) => sectionOf(table, before, after)).filter(({ total }) => total > 0);

const typeOf = (was: unknown, is: unknown): RowChange["type"] => {
  if (was === undefined) return "new";
  return is === undefined ? "gone" : "changed";
};

const maxChanges = 60;

/** Lists the rows that an event changed, with the differences in each. */
export const changesBetween = (before: State, after: State): readonly RowChange[] =>
  tables
    .flatMap((table) => table.changed(before, after).map((key) => [table, key] as const))
    .slice(0, maxChanges)
    .map(([table, key]) => {
      const [was, is] = [table.at(before, key), table.at(after, key)];
      const type = typeOf(was, is);
      const differences = type === "changed" ? differencesOf(plain(was), plain(is)) : [];
      return { section: table.name, key, type, differences };
    });
