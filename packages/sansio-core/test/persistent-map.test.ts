/** A persistent map does what a map of the language does, and keeps what it was before each write. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PersistentMap } from "../src/kernel/persistent-map.ts";

/** Texts and numbers whose hashes agree wholly, in their low bits, or not at all. */
const texts = ["costarring", "liquid", "declinate", "macallums", "", "__proto__", "constructor", "é", "🦀"];
const anyText = fc.oneof(fc.constantFrom(...texts), fc.string({ maxLength: 3 }));
const anyNumber = fc
  .tuple(fc.nat(40), fc.constantFrom(0, 32, 1_024, 2 ** 25, 2 ** 32, 2 ** 40))
  .map(([low, high]) => low + high);

type Write<Key> = { readonly key: Key; readonly row: number | undefined };
const anyWrites = <Key>(anyKey: fc.Arbitrary<Key>): fc.Arbitrary<readonly Write<Key>[]> =>
  fc.array(fc.record({ key: anyKey, row: fc.option(fc.nat(3), { nil: undefined }) }), { maxLength: 200 });

const written = <Key extends string | number>(map: PersistentMap<Key, number>, { key, row }: Write<Key>) =>
  row === undefined ? map.delete(key) : map.set(key, row);

const isSame = <Key extends string | number>(map: PersistentMap<Key, number>, model: Map<Key, number>): void => {
  expect(map.size).toBe(model.size);
  expect(new Map(map)).toEqual(model);
  expect(new Set(map.keys())).toEqual(new Set(model.keys()));
  expect(map.values().toSorted()).toEqual([...model.values()].toSorted());
  for (const [key, row] of model) expect([map.has(key), map.get(key)]).toEqual([true, row]);
};

const holdsOver = <Key extends string | number>(writes: readonly Write<Key>[]): void => {
  const model = new Map<Key, number>();
  let map = PersistentMap.empty<Key, number>();
  const past: (readonly [PersistentMap<Key, number>, Map<Key, number>])[] = [];
  for (const write of writes) {
    past.push([map, new Map(model)]);
    if (write.row === undefined) model.delete(write.key);
    else model.set(write.key, write.row);
    map = written(map, write);
    expect(map.get(write.key)).toBe(write.row);
    expect(map.has(write.key)).toBe(write.row !== undefined);
    expect(map.size).toBe(model.size);
  }
  isSame(map, model);
  for (const [before, was] of past) isSame(before, was);
};

describe("a persistent map", () => {
  it("does with texts what a map of the language does, and stays what it was", () => {
    fc.assert(fc.property(anyWrites(anyText), holdsOver), { numRuns: 150 });
  });

  it("does with numbers what a map of the language does, and stays what it was", () => {
    fc.assert(fc.property(anyWrites(anyNumber), holdsOver), { numRuns: 150 });
  });

  it("is the same map after a write that changes nothing", () => {
    fc.assert(
      fc.property(anyWrites(anyText), anyText, (writes, key) => {
        const map = writes.reduce((all, write) => written(all, write), PersistentMap.empty<string, number>());
        const row = map.get(key);
        expect(row === undefined ? map.delete(key) : map.set(key, row)).toBe(map);
      }),
    );
  });

  it("lists its rows in an order that its keys alone decide, where no hashes agree", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(100_000), { maxLength: 100 }), fc.nat(100_000), (keys, other) => {
        const rows = keys.map((key): [number, number] => [key, key]);
        const back = PersistentMap.of([...rows, [other, 0] as const].toReversed());
        const map = keys.includes(other) ? back.set(other, other) : back.delete(other);
        expect(map.entries()).toEqual(PersistentMap.of(rows).entries());
      }),
    );
  });

  it("made at once is the map that its rows make one by one", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyText, fc.nat()), { maxLength: 200 }), (rows) => {
        const oneByOne = rows.reduce((map, [key, row]) => map.set(key, row), PersistentMap.empty<string, number>());
        const atOnce = PersistentMap.of(rows);
        expect(atOnce.entries()).toEqual(oneByOne.entries());
        expect([atOnce.size, atOnce.delete("liquid").size]).toEqual([oneByOne.size, oneByOne.delete("liquid").size]);
        for (const [key] of rows) expect(atOnce.get(key)).toBe(oneByOne.get(key));
      }),
      { numRuns: 150 },
    );
  });

  it("keeps ten thousand rows apart, and forgets them one by one", () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `request:${i >> 2}/call-${i}`);
    const full = PersistentMap.of(keys.map((key, i) => [key, i]));
    expect(full.size).toBe(10_000);
    expect(keys.every((key, i) => full.get(key) === i)).toBe(true);
    expect(keys.reduce((rest, key) => rest.delete(key), full).size).toBe(0);
  });
});
