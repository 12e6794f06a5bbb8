import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BloomFilter } from "@pawl/runtime/driver";

const sieveOf = (texts: readonly string[]): BloomFilter => {
  const sieve = new BloomFilter();
  for (const text of texts) sieve.add(text);
  return sieve;
};

it("never denies an added string", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 300 }), (texts) => {
      const sieve = sieveOf(texts);
      return texts.every((text) => sieve.mayContain(text));
    }),
  );
});

it.each([10, 64, 5_000, 100_000])("denies nearly all strings that were not added, of %i", (count) => {
  const sieve = sieveOf(Array.from({ length: count }, (_, i) => `1 request r${i}`));
  const asked = 20_000;
  const held = Array.from({ length: asked }, (_, i) => sieve.mayContain(`1 request s${i}`)).filter(Boolean).length;
  expect(held / asked).toBeLessThan(0.03);
});

it("is empty at first", () => {
  expect(new BloomFilter().mayContain("")).toBe(false);
});
