/** Costs of values, relative to the engine's own JSON, and to the hash alone. */
import { sha256 } from "@noble/hashes/sha2.js";
import { canonicalJson, decode, parse, type ToolValue, utf8, valueHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Figure, timeOnceUs, timeUs } from "./figure.ts";

const call = (i: number): object => ({
  id: `call-${i}`,
  tool: "search",
  args: { query: `the ${i}th thing, "quoted" and — accented: déjà vu`, limit: i * 17 + 3, exact: i % 2 === 0 },
  scores: [i / 7, i * 1.5, -i, 1_763_459_854_000 + i],
  note: i % 3 === 0 ? null : "first line\nsecond line",
});

/** A nested value of about this size, like the records that models and tools exchange. */
const textOfSize = (bytes: number): string => {
  const one = JSON.stringify(call(1)).length + 1;
  return JSON.stringify({ calls: Array.from({ length: Math.round(bytes / one) }, (_, i) => call(i)), total: bytes });
};

const read = (text: string): ToolValue => {
  const json = parse(text);
  const value = E.isLeft(json) ? json : decode(json.right);
  if (E.isLeft(value)) throw new Error(value.left.message);
  return value.right;
};

const small = textOfSize(2048);
const smallValue = read(small);
const smallCanonical = canonicalJson(smallValue);
const smallBytes = utf8(smallCanonical);
const smallJson = JSON.parse(smallCanonical) as unknown;

const roundTripPerByte = (text: string): number =>
  timeOnceUs(() => canonicalJson(read(text)).charCodeAt(1)) / text.length;
const medium = textOfSize(100_000);
const large = textOfSize(10_000_000);
const mediumsInLarge = 100;

export const valueFigures: readonly Figure[] = [
  {
    name: "value.decode",
    what: "text to value, relative to JSON.parse",
    unit: "us",
    bound: 3,
    round: () => ({ floor: timeUs(() => JSON.parse(small)), value: timeUs(() => read(small)) }),
  },
  {
    name: "value.encode",
    what: "value to canonical text, relative to JSON.stringify",
    unit: "us",
    bound: 3,
    // Reading a character makes the engine join the pieces of the text.
    round: () => ({
      floor: timeUs(() => JSON.stringify(smallJson).charCodeAt(1)),
      value: timeUs(() => canonicalJson(smallValue).charCodeAt(1)),
    }),
  },
  {
    name: "value.hash",
    what: "hash of a value, relative to SHA-256 of its bytes plus encode",
    unit: "us",
    bound: 1.5,
    round: () => ({
      floor: timeUs(() => sha256(smallBytes)) + timeUs(() => canonicalJson(smallValue).charCodeAt(1)),
      value: timeUs(() => valueHash(smallValue)),
    }),
  },
  {
    name: "value.growth",
    what: "a byte of a 10 MB value there and back, relative to one of a 100 KB value",
    unit: "us/byte",
    bound: 1.3,
    round: () => {
      const floor = timeOnceUs(() => {
        for (let i = 0; i < mediumsInLarge; i++) canonicalJson(read(medium)).charCodeAt(1);
      });
      return { floor: floor / (medium.length * mediumsInLarge), value: roundTripPerByte(large) };
    },
  },
];
