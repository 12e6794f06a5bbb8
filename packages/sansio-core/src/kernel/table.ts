/**
 * A persistent map of rows in two tiers. What is written now is mostly what was written a moment ago, so writes go to
 * a small young map; when it is full it is merged into the old one. A write costs the same whether ten rows live or
 * ten thousand. What is deleted in the old tier is a tombstone in the young one until the merge.
 */
import { PersistentMap, hashOf } from "./persistent-map.ts";

const youngRows = 24;

export class Table<Row> {
  readonly #young: PersistentMap<string, Row | undefined>;
  readonly #old: PersistentMap<string, Row>;
  readonly size: number;

  private constructor(young: PersistentMap<string, Row | undefined>, old: PersistentMap<string, Row>, size: number) {
    this.#young = young;
    this.#old = old;
    this.size = size;
  }

  static empty<Row>(): Table<Row> {
    return new Table<Row>(PersistentMap.empty(), PersistentMap.empty(), 0);
  }

  static of<Row>(rows: Iterable<readonly [string, Row]>): Table<Row> {
    const old = PersistentMap.of<string, Row>(rows);
    return new Table<Row>(PersistentMap.empty(), old, old.size);
  }

  at(key: string): Row | undefined {
    const hash = hashOf(key);
    const found = this.#young.find(key, hash) ?? this.#old.find(key, hash);
    return found?.row;
  }

  set(key: string, row: Row): Table<Row> {
    const size = this.at(key) === undefined ? this.size + 1 : this.size;
    return this.#write(key, row, size);
  }

  /** As `set`, of many rows. Where they are a good part of all, the table is made anew. */
  setAll(rows: readonly (readonly [string, Row])[]): Table<Row> {
    if (this.#isFew(rows.length)) return rows.reduce<Table<Row>>((table, [key, row]) => table.set(key, row), this);
    return Table.of([...this.#merge(this.#young).entries(), ...rows]);
  }

  /** As `set`, of a row that is known to be there. */
  replace(key: string, row: Row): Table<Row> {
    return this.#write(key, row, this.size);
  }

  delete(key: string): Table<Row> {
    if (this.at(key) === undefined) return this;
    if (this.#old.has(key)) return this.#write(key, undefined, this.size - 1);
    return new Table(this.#young.delete(key), this.#old, this.size - 1);
  }

  /** Deletes many rows. Where they are a good part of all, the table is made anew of those that stay. */
  deleteAll(keys: readonly string[]): Table<Row> {
    if (this.#isFew(keys.length)) return keys.reduce<Table<Row>>((table, key) => table.delete(key), this);
    const gone = new Set(keys);
    const kept: [string, Row][] = [];
    this.#merge(this.#young).forEach((row, key) => {
      if (!gone.has(key)) kept.push([key, row]);
    });
    return Table.of(kept);
  }

  #isFew(count: number): boolean {
    return count <= youngRows || 4 * count < this.size;
  }

  #write(key: string, row: Row | undefined, size: number): Table<Row> {
    const young = this.#young.set(key, row);
    return young.size <= youngRows
      ? new Table(young, this.#old, size)
      : new Table(PersistentMap.empty(), this.#merge(young), size);
  }

  #merge(young: PersistentMap<string, Row | undefined>): PersistentMap<string, Row> {
    let old = this.#old;
    young.forEach((row, key) => {
      old = row === undefined ? old.delete(key) : old.set(key, row);
    });
    return old;
  }

  /** All rows, in no order that means anything. */
  rows(): Row[] {
    const rows: Row[] = [];
    this.#young.forEach((row) => {
      if (row !== undefined) rows.push(row);
    });
    this.#old.forEach((row, key) => {
      if (!this.#young.has(key)) rows.push(row);
    });
    return rows;
  }

  /**
   * All keys, in the order in which a map of these keys lists them. It depends on the keys alone, not on the tier that a
   * row happens to stand in: a restored table has all its rows in the old one.
   */
  keys(): string[] {
    const keys = this.#merge(this.#young).keys().toSorted();
    return PersistentMap.of(keys.map((key) => [key, undefined])).keys();
  }

  /** Returns whether the test holds for any row. */
  some(isSo: (row: Row) => boolean): boolean {
    if (this.#young.some((row) => row !== undefined && isSo(row))) return true;
    return this.#old.some((row, key) => !this.#young.has(key) && isSo(row));
  }

  /** The keys of the rows that are not those of an earlier table. While no tier was merged, only what is young is looked at. */
  changedSince(before: Table<Row>): readonly string[] {
    const tables = [this, before];
    const young = tables.flatMap((table) => table.#young.keys());
    const old = this.#old === before.#old ? [] : tables.flatMap((table) => table.#old.keys());
    return [...new Set([...young, ...old])].filter((key) => this.at(key) !== before.at(key));
  }
}
