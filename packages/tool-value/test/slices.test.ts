/** Work in slices gives what the same work gives in one piece. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  type Json,
  type Slices,
  array,
  encodeSlices,
  isHeavy,
  json,
  mapSlices,
  recordSlices,
  sliceOf,
  string,
  stringify,
  stringifyRecord,
  struct,
  textSlices,
} from "../src/index.ts";

/** Runs to the end. Returns the result, and how many slices there were. */
const run = <A>(slices: Slices<A>): { readonly result: A; readonly count: number } => {
  for (let count = 1; ; count += 1) {
    const { done, value } = slices.next();
    if (done === true) return { result: value, count };
  }
};

const keys = fc.oneof(fc.string({ maxLength: 4 }), fc.nat(20).map(String), fc.constant("__proto__"));
const leaf = fc.oneof(fc.integer(), fc.string({ maxLength: 6 }), fc.boolean(), fc.constant(null), fc.bigInt());
const { node } = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf as fc.Arbitrary<Json>,
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(keys, tie("node"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

/** A value with so much around a small one that it is written in slices. */
const heavy = (small: Json, place: number): Json => {
  const many = Array.from({ length: 6000 }, (_, n) => (n === place ? small : { b: n, a: [n] }));
  const wide = Object.fromEntries(many.map((one, n) => [`${n % 2 === 0 ? "k" : ""}${n}`, one]));
  return [{ wide, many: { many } }, small, "x".repeat(500_000), []];
};

it("texts of heavy values are those that are written in one piece", () => {
  fc.assert(
    fc.property(node, fc.nat(5999), (small, place) => {
      const value = heavy(small, place);
      expect(isHeavy(value)).toBe(true);
      for (const [slices, whole] of [
        [textSlices(value), stringify(value)],
        [recordSlices(value), stringifyRecord(value)],
      ] as const) {
        const { result, count } = run(slices);
        expect(result === whole).toBe(true);
        expect(count).toBeGreaterThan(5);
      }
    }),
    { numRuns: 12 },
  );
});

it("a value of a hundred thousand levels is written as soon as in one piece", () => {
  let deep: Json = { b: "x", a: 1 };
  for (let n = 0; n < 100_000; n += 1) deep = n % 2 === 0 ? [deep] : { a: deep };
  expect(isHeavy(deep)).toBe(true);
  const { result, count } = run(textSlices([deep, deep]));
  expect(result === stringify([deep, deep])).toBe(true);
  expect(count).toBeLessThan(100);
});

it("a value that is not heavy is written in one slice", () => {
  for (const value of [null, 1, "x", [], {}, { b: [1], a: 2n }, Array.from({ length: 900 }, () => ({ n: 1 }))]) {
    expect(isHeavy(value)).toBe(false);
    expect(run(textSlices(value))).toEqual({ result: stringify(value), count: 1 });
  }
});

it("weighs also what contains itself, or throws when it is read", () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const throwing = Object.defineProperty({}, "a", {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  expect([isHeavy(cyclic), isHeavy([throwing])]).toEqual([true, false]);
});

it("a long list is mapped in its order, each slice with the number of items before it", () => {
  const items = Array.from({ length: 2 * sliceOf + 1 }, (_, n) => n);
  const befores: number[] = [];
  const { result, count } = run(
    mapSlices(items, (slice, before) => {
      befores.push(before);
      return slice.map((n) => n * 2);
    }),
  );
  expect(result).toEqual(items.map((n) => n * 2));
  expect([count, befores]).toEqual([3, [0, sliceOf, 2 * sliceOf]]);
});

it("a record takes over the items of a list that was encoded before it, once", () => {
  let encoded = 0;
  const Item = struct("an item", { name: string, value: json });
  const counting = Object.assign(Object.create(Item) as typeof Item, {
    encode: (item: (typeof Item)["_A"]) => {
      encoded += 1;
      return Item.encode(item);
    },
  });
  const Whole = struct("a whole", { items: array(counting) });
  const items = Array.from({ length: 1500 }, (_, n) => ({ name: `n${n}`, value: [n] }));
  const whole = Whole.encode({ items: [...items] });
  expect(run(encodeSlices(counting, items)).count).toBe(3);
  encoded = 0;
  expect(Whole.encode({ items })).toEqual(whole);
  expect(encoded).toBe(0);
  expect(Whole.encode({ items })).toEqual(whole);
  expect(encoded).toBe(1500);
});
