import * as E from "fp-ts/lib/Either.js";
import type { Json } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  type Adapters,
  type Case,
  type CaseResult,
  differenceOf,
  judge,
  printCase,
  knownFields,
  knownName,
  readCases,
  runCase,
  withFields,
} from "../src/index.ts";

const run = async (
  fields: Partial<Case>,
  answer: () => CaseResult | Promise<CaseResult>,
): Promise<string | undefined> => {
  const test = { id: "c1", op: "op", input: {}, ...fields } as Case;
  return judge(test, await runCase(test, { op: answer }));
};

const fail = (): CaseResult => E.left({ code: "bad", message: "it is bad", runs: 3 });
const hop = (): CaseResult => E.right(knownName("step", "hop", ["walk", "run"]));
const explode = (): never => {
  throw new Error("adapter broke");
};

describe("an expected value", () => {
  const found = { a: 1, b: [{ c: 2, d: 3 }], e: null };
  const differs = (expected: Json): string | undefined => differenceOf(expected, found);

  it("matches if the listed fields are there, whatever else is", () => {
    for (const expected of [{}, { a: 1 }, { b: [{ c: 2 }] }, { b: [{}], e: null }]) {
      expect(differs(expected)).toBeUndefined();
    }
  });

  it("does not match at the path of a missing or different field", () => {
    expect(differs({ a: 2 })).toBe("$.a: expected 2, found 1");
    expect(differs({ x: 1 })).toBe("$.x: expected 1, found nothing");
    expect(differs({ b: [{ c: 3 }] })).toBe("$.b[0].c: expected 3, found 2");
    expect(differs({ a: { x: 1 } })).toBe('$.a: expected {"x":1}, found 1');
    expect(differs({ constructor: {} })).toBe("$.constructor: expected {}, found nothing");
  });

  it("null matches null or an absent field, and nothing else", () => {
    expect(differs({ e: null, absent: null, b: [{ absent: null }] })).toBeUndefined();
    expect(differs({ a: null })).toBe("$.a: expected null, found 1");
    expect(differs({ e: 1 })).toBe("$.e: expected 1, found null");
  });

  it("that is an array needs the same length and order", () => {
    expect(differenceOf([1, 2], [1, 2])).toBeUndefined();
    expect(differenceOf([1], [1, 2])).toBe("$: expected [1], found [1,2]");
    expect(differenceOf([1, 2], [2, 1])).toBe("$[0]: expected 1, found 2");
    expect(differenceOf([], {})).toBe("$: expected [], found {}");
    expect(differenceOf({}, [])).toBe("$: expected {}, found []");
  });

  it("that is a text is compared as text, even if it is JSON", () => {
    expect(differenceOf({ json: '{"a":1,"b":2}' }, { json: '{"b":2,"a":1}' })).toContain("$.json");
  });
});

describe("a case", () => {
  it("passes with the listed result, also null", async () => {
    expect(await run({ expect: { a: 1 } }, () => E.right({ a: 1, b: 2 }))).toBeUndefined();
    expect(await run({ expect: null }, () => E.right(null))).toBeUndefined();
    expect(await run({ expect: 1 }, () => Promise.resolve(E.right(1)))).toBeUndefined();
    expect(await run({ expect: 1 }, () => E.right(2))).toBe("$: expected 1, found 2");
  });

  it("passes with the listed error, or with its message alone", async () => {
    expect(await run({ error: { code: "bad", runs: 3 } }, fail)).toBeUndefined();
    expect(await run({ error: "it is bad" }, fail)).toBeUndefined();
    expect(await run({ error: { runs: 2 } }, fail)).toBe("$.runs: expected 2, found 3");
    expect(await run({ error: "other" }, fail)).toBe('$.message: expected "other", found "it is bad"');
  });

  it("fails if a result was expected and an error came, and the other way round", async () => {
    expect(await run({ expect: 1 }, () => E.left({ message: "m" }))).toBe(
      'expected 1, found the error {"message":"m"}',
    );
    expect(await run({ error: "m" }, () => E.right(1))).toBe('expected the error "m", found the result 1');
  });

  it("fails if it lists neither, or its op throws, or returns no JSON, or has no adapter", async () => {
    expect(await run({}, () => E.right(1))).toBe("the case lists neither expect nor error");
    expect(await run({ expect: 1 }, explode)).toContain("adapter broke");
    expect(await run({ expect: 1 }, () => E.right(new Date(0)))).toContain("the adapter's result is no JSON");
    expect(await run({ expect: 1, op: "toString" }, () => E.right(1))).toContain("no adapter for op `toString`");
  });

  it("fails if its input has something that its adapter does not know", async () => {
    expect(await run({ error: { code: "unknown_step" } }, hop)).toBeUndefined();
    expect(await run({ expect: null }, hop)).toContain("unknown step `hop`, expected one of `walk`, `run`");
    const fields = withFields(["a", "b"], (): CaseResult => E.right(1));
    const answered = (input: Json) => runCase({ id: "c1", op: "op", input }, { op: fields });
    expect(await answered({ a: 1, c: 2 })).toEqual(
      E.left({ code: "unknown_field", message: "unknown field `c`, expected one of `a`, `b`" }),
    );
    expect(await answered({ a: 1, b: 2 })).toEqual(E.right(1));
  });

  it("gets its input as it is in the file, with exact integers", async () => {
    const [test] = readCases('[{"id":"a","op":"echo","input":{"n":9007199254740993},"expect":{"n":9007199254740993}}]');
    const echo: Adapters = { echo: (input) => E.right(input) };
    expect(judge(test as Case, await runCase(test as Case, echo))).toBeUndefined();
  });

  it("is printed in one line, with its result or its error", () => {
    const test = { id: "c1", op: "op", input: {} };
    expect(printCase(test, E.right({ b: 1, a: 2 }))).toBe('{"id":"c1","result":{"b":1,"a":2}}');
    expect(printCase(test, E.left({ code: "bad", message: "m" }))).toBe(
      '{"id":"c1","error":{"code":"bad","message":"m"}}',
    );
  });
});

describe("a name", () => {
  it("is returned if it is known, and otherwise refused as it is written", () => {
    expect(knownName("word", "a", ["a", "b"])).toBe("a");
    expect(() => knownName("op", undefined, ["a"])).toThrow("unknown op `undefined`, expected one of `a`");
    expect(() => knownName("word", 1, ["a"])).toThrow("unknown word `1`");
    expect(() => knownFields({ a: 1 }, ["a"])).not.toThrow();
    expect(() => knownFields({ constructor: 1 }, ["a"])).toThrow("unknown field `constructor`");
  });
});

describe("a file of cases", () => {
  it("is a list of entries with an id and an op", () => {
    expect(readCases("[]")).toEqual([]);
    expect(() => readCases("{}")).toThrow("expected a list of cases");
    expect(() => readCases('[{"id":"a"}]')).toThrow("case 0 needs an id and an op");
    expect(() => readCases("[")).toThrow("expected a value");
  });
});
