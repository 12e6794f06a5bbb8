import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Json,
  json,
  noLimits,
  parse,
  parseRecord,
  read,
  readOwned,
  record,
  stringify,
  u64,
} from "../src/index.ts";
import { json as anyJson } from "./arbitrary.ts";
import { refusal, right } from "./expect.ts";

interface Held {
  readonly held: Json;
}
const Held = record<Held>("struct Held", { held: json });
const fresh = (text: string): Json => right(parseRecord(text));

describe("JSON that nobody else refers to", () => {
  it("is read like any other", () => {
    const property = fc.property(anyJson, (value) => {
      const text = `{"held":${stringify(value)}}`;
      expect(readOwned(Held, fresh(text))).toEqual(read(Held, fresh(text)));
    });
    expect(() => fc.assert(property, { numRuns: 2000 })).not.toThrow();
  });

  it("is not copied in normal form, and brought into it otherwise", () => {
    const kept = [
      "null",
      '"é"',
      "1.5",
      "1e+21",
      "9007199254740991",
      "[[1],{}]",
      '{"a":1,"b":{"0":2}}',
      "18014398509481984",
    ];
    for (const text of kept) {
      const given = fresh(`{"held":${text}}`) as unknown as Held;
      const { held } = right(readOwned(Held, given as unknown as Json));
      expect([text, held === given.held]).toEqual([text, true]);
    }
    const brought = [
      ["-0", "0"],
      ["1e3", "1000"],
      ["1e20", "100000000000000000000"],
      ['{"b":1,"a":2}', '{"a":2,"b":1}'],
      ['[{"10":1,"9":2}]', '[{"10":1,"9":2}]'],
    ] as const;
    for (const [text, normal] of brought) {
      expect(stringify(right(readOwned(Held, fresh(`{"held":${text}}`))).held)).toBe(normal);
    }
    expect(Object.is(right(readOwned(Held, fresh('{"held":[-0]}'))).held, -0)).toBe(false);
  });

  it("is refused like any other: with the path, at any depth, numbers out of range included", () => {
    const deep = `{"held":${"[".repeat(2000)}1e999${"]".repeat(2000)}}`;
    expect(refusal(parse(deep, noLimits))).toContain("out of range");
    expect(refusal(readOwned(Held, fresh(deep)))).toContain("non-finite number");
    const Count = record<{ readonly n: number }>("struct Count", { n: u64 });
    for (const text of ['{"n":1e999}', '{"n":-1}', '{"n":"1"}', "{}", "[]"]) {
      expect(refusal(readOwned(Count, fresh(text)))).toBe(refusal(read(Count, fresh(text))));
    }
  });
});
