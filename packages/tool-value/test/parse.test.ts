import { describe, expect, it, vi } from "vitest";
import { noLimits, parse, stringify } from "../src/index.ts";
import { refusal, right } from "./expect.ts";
import { identical } from "./reference.ts";

const long = "12345678901234567890";

describe("parse", () => {
  it("returns what JSON.parse returns, with either parser", () => {
    const texts = [
      "null",
      " [ true , false ] ",
      '{"b":1,"a":{"c":[]},"10":2,"9":3}',
      "[0,-0,1.5,-1e-7,2E+3,123456789012345]",
      String.raw`["\"\\\/\b\f\n\r\t\u00e9","\ud83d\ude00é"]`,
      '{"a":1,"a":2}',
      '{"":{"":""}}',
      "\t\r\n 1 ",
    ];
    for (const text of texts) {
      expect(identical(right(parse(text)), JSON.parse(text))).toBe(true);
      expect(identical(right(parse(`[${long},${text}]`)), [BigInt(long), JSON.parse(text)])).toBe(true);
    }
  });

  it("never throws, even if the engine cannot hold an integer of that size", () => {
    vi.stubGlobal("BigInt", () => {
      throw new RangeError("Maximum BigInt size exceeded");
    });
    const read = parse(`{"a":${long}}`, noLimits);
    vi.unstubAllGlobals();
    expect(refusal(read)).toBe("too_many_digits: this engine cannot hold an integer of 20 digits at $.a");
  });

  it("keeps integers exact at any size", () => {
    const digits = "9".repeat(500);
    expect(right(parse(`[9007199254740991,9007199254740992,-9007199254740993,${digits}]`))).toEqual([
      9007199254740991,
      9007199254740992n,
      -9007199254740993n,
      BigInt(digits),
    ]);
    expect(right(parse("[12345678901234567.0,123456789012345678e0,0.12345678901234567890]"))).toEqual([
      12345678901234568, 123456789012345680, 0.12345678901234568,
    ]);
    for (let shift = 0; shift < 40; shift++) {
      const padding = " ".repeat(shift);
      expect(right(parse(`[${padding}9007199254740993]`))).toEqual([9007199254740993n]);
    }
  });

  it("keeps the last value of repeated keys, in the place of the first", () => {
    for (const value of ["3", long]) {
      expect(stringify(right(parse(`{"a":1,"b":2,"a":${value}}`)))).toBe(`{"a":${value},"b":2}`);
    }
  });

  it("reports what was expected and found, and where", () => {
    const cases = [
      ["", "expected a value, found the end of the text in line 1, column 1"],
      ["[1,2", "expected `,` or `]`, found the end of the text in line 1, column 5 at $[2]"],
      ['{"a":1,\n "b" 2}', 'expected `:`, found "2" in line 2, column 6 at $.b'],
      ['{"a":{"b":[1,]}}', 'expected a value, found "]" in line 1, column 14 at $.a.b[1]'],
      ['{"a":1,}', 'expected a key in quotes, found "}" in line 1, column 8'],
      ["{a:1}", 'expected a key in quotes, found "a" in line 1, column 2'],
      ['{"a":1 "b"}', 'expected `,` or `}`, found "\\"" in line 1, column 8'],
      ["1 2", 'expected the end of the text, found "2" in line 1, column 3'],
      ["[01]", 'expected `,` or `]`, found "1" in line 1, column 3 at $[1]'],
      ["[1.]", 'expected `,` or `]`, found "." in line 1, column 3 at $[1]'],
      ["[+1]", 'expected a value, found "+" in line 1, column 2 at $[0]'],
      ["[NaN]", 'expected a value, found "N" in line 1, column 2 at $[0]'],
      ['["a', "expected the end of a string, found the end of the text in line 1, column 4 at $[0]"],
      ['["\n"]', 'expected a control character to be escaped, found "\\n" in line 1, column 3 at $[0]'],
      ['["\u001f"]', 'expected a control character to be escaped, found "\\u001f" in line 1, column 3 at $[0]'],
      [String.raw`["\x"]`, 'expected a string with valid escapes, found "\\"" in line 1, column 2 at $[0]'],
      ["[1}", 'expected `,` or `]`, found "}" in line 1, column 3 at $[1]'],
      ["nul", 'expected a value, found "n" in line 1, column 1'],
      ["\ufeff1", 'expected a value, found "\ufeff" in line 1, column 1'],
      ["[😀]", 'expected a value, found "😀" in line 1, column 2 at $[0]'],
    ] as const;
    for (const [text, message] of cases) expect(refusal(parse(text))).toBe(`invalid_json: ${message}`);
  });
});
