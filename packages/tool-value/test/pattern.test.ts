import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PatternFlags, linearPattern } from "../src/index.ts";

const found = (source: string, text: string, flags: PatternFlags = ""): boolean => {
  const pattern = linearPattern(source, flags);
  if (E.isLeft(pattern)) throw new Error(`${source}: ${pattern.left}`);
  return pattern.right(text);
};

/** Patterns over a small alphabet, so that texts often match, with all that the syntax has. */
const atom = fc.constantFrom(
  ..."ab_ -é😀".split(/(?:)/u),
  ".",
  "\\w",
  "\\W",
  "\\d",
  "\\s",
  "\\S",
  "\\b",
  "\\B",
  "^",
  "$",
  "[ab]",
  "[^a]",
  "[a-b\\]]",
  "[]",
  "[^]",
  "\\u0061",
  "\\u{1F600}",
  "\\uD83D\\uDE00",
  "\\x61",
  "\\p{L}",
  "\\P{Lu}",
  "\\/",
  "\\.",
  "\\n",
  "\\0",
  "\\cJ",
);
const isAnchor = (text: string): boolean => /^(?:\^|\$|\\[bB])$/.test(text);
const count = fc.constantFrom("", "", "", "*", "+", "?", "*?", "+?", "{2}", "{0}", "{1,}", "{0,2}", "{2,3}?");
const source = fc.letrec<{ readonly any: string; readonly all: string; readonly part: string }>((tie) => ({
  any: fc.array(tie("all"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("|")),
  all: fc.array(tie("part"), { maxLength: 4 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.tuple(atom, count).map(([one, times]) => (isAnchor(one) ? one : one + times)),
    fc.tuple(fc.constantFrom("(", "(?:"), tie("any"), count).map(([open, inner, times]) => `${open}${inner})${times}`),
  ),
})).any;
const text = fc.string({
  unit: fc.constantFrom("a", "b", "B", "É", "_", " ", "-", "é", "😀", "1", "\n", "\ud83d"),
  maxLength: 6,
});

/**
 * Tries each character in turn, as the language has it. A search by V8 also begins between the halves of a pair: there it
 * finds `(\B)` in `a😀a`.
 */
const platformFinds = (written: string, input: string, flags: PatternFlags): boolean => {
  const pattern = new RegExp(written, `uy${flags}`);
  let at = 0;
  for (const character of [...input, ""]) {
    pattern.lastIndex = at;
    if (pattern.test(input)) return true;
    at += character.length;
  }
  return false;
};

describe("a linear pattern", () => {
  it("finds what the platform finds", () => {
    fc.assert(
      fc.property(source, text, fc.constantFrom<PatternFlags>("", "i", "s", "is"), (pattern, input, flags) => {
        expect(found(pattern, input, flags)).toBe(platformFinds(pattern, input, flags));
      }),
      { numRuns: 5000, examples: [["(\\B)", "a😀a", ""]] },
    );
  });

  it.each([
    ["^(\\w+\\s?)*$", `${"a".repeat(50_000)}!`],
    ["(a+)+$", `${"a".repeat(50_000)}!`],
    ["^(?:a|a)*$", `${"a".repeat(50_000)}b`],
    ["(.*)*x", "a".repeat(50_000)],
    ["^(?:a?){40}a{40}$", "a".repeat(39)],
    ["\\s+$", `${" ".repeat(50_000)}x`],
  ])("is done with %s in linear time", (pattern, input) => {
    const startedAt = performance.now();
    expect(found(pattern, input)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it("counts far", () => {
    expect(found("^.{1,4000}$", "a".repeat(4000))).toBe(true);
    expect(found("^.{1,4000}$", "a".repeat(4001))).toBe(false);
    expect(found("^[0-9a-f]{64}$", "0".repeat(64))).toBe(true);
  });

  it.each([
    ["(?=a)b", "look-around is not supported"],
    ["(?<!a)b", "look-around is not supported"],
    ["(a)\\1", "back references are not supported"],
    ["(?<n>a)\\k<n>", "back references are not supported"],
    ["(?:a{1,1000}){1,1000}", "its repetitions take more than 20000 states"],
  ])("refuses %s", (pattern, why) => {
    expect(linearPattern(pattern)).toEqual(E.left(why));
  });

  it("refuses what is no pattern, in the platform's words", () => {
    expect(linearPattern("(")).toEqual(E.left(expect.stringContaining("Unterminated group")));
    expect(linearPattern("a{1}{2}")).toEqual(E.left(expect.stringContaining("Nothing to repeat")));
  });

  it("reads named groups and classes that hold what would end them", () => {
    expect(found("^(?<year>\\d{4})-(?<month>\\d\\d)$", "2026-11")).toBe(true);
    expect(found("^[\\]()|]+$", "](|)")).toBe(true);
  });
});
