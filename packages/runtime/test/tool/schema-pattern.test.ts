import * as fc from "fast-check";
import { Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { mismatchesOf } from "../../src/tool/check.ts";
import { defineTool } from "../../src/index.ts";

const fits = (schema: object, value: unknown): boolean => mismatchesOf(schema)(value as never) === undefined;

const define = (parameters: Readonly<Record<string, unknown>>) => () =>
  defineTool({ name: "t", inputSchema: parameters, execute: async () => null });

describe("the patterns of a schema", () => {
  it("are checked in linear time, wherever they stand", () => {
    const hostile = "^(\\w+\\s?)*$";
    const text = `${"a".repeat(50_000)}!`;
    const startedAt = performance.now();
    expect(fits({ type: "string", pattern: hostile }, text)).toBe(false);
    expect(fits({ anyOf: [{ items: { pattern: hostile } }, { type: "null" }] }, [text])).toBe(false);
    expect(fits({ patternProperties: { [hostile]: { type: "null" } } }, { [text]: 1 })).toBe(true);
    expect(fits({ patternProperties: { [hostile]: { type: "null" } } }, { [text.slice(0, -1)]: 1 })).toBe(false);
    expect(fits({ format: "url" }, `http://${"a".repeat(50_000)}!@`)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it("are told as patterns", () => {
    expect(mismatchesOf({ properties: { to: { type: "string", pattern: "^b" } } })({ to: "a" })).toEqual({
      at: "#/to",
      why: "String does not match pattern.",
    });
  });

  it("do not touch values that only look like schemas", () => {
    expect(fits({ const: { pattern: "a" } }, { pattern: "a" })).toBe(true);
    expect(fits({ enum: [{ patternProperties: {} }] }, { patternProperties: {} })).toBe(true);
    expect(fits({ properties: { pattern: { type: "string" } }, additionalProperties: false }, { pattern: "(" })).toBe(
      true,
    );
  });

  it("are refused by `defineTool` where they need a memory", () => {
    expect(define({ properties: { a: { pattern: "(?=a)" } } })).toThrow(/linear time.*look-around is not supported/);
    expect(define({ patternProperties: { "(a)\\1": {} } })).toThrow(/back references are not supported/);
    expect(define({ $ref: "#/patternProperties/a", patternProperties: { a: {} } })).toThrow(/leads into no/);
  });

  const pattern = fc.constantFrom("^a", "b$", "^[ab]+$", "a|c", ".", "^x-");
  const name = fc.constantFrom("a", "b", "ab", "x-a", "constructor", "__proto__", "pattern");
  const schema = fc.letrec<{ readonly schema: object; readonly leaf: object }>((tie) => ({
    leaf: fc.oneof(
      fc.record({ pattern }),
      fc.record({ pattern, format: fc.constantFrom("date", "email") }),
      fc.constantFrom<object>({ type: "string" }, { type: "number" }, { not: {} }, {}),
    ),
    schema: fc.oneof(
      { maxDepth: 2 },
      tie("leaf"),
      fc.record({ patternProperties: fc.dictionary(pattern, tie("schema"), { maxKeys: 2 }) }),
      fc.record({
        properties: fc.dictionary(name, tie("schema"), { maxKeys: 2 }),
        patternProperties: fc.dictionary(pattern, tie("schema"), { maxKeys: 2 }),
        additionalProperties: fc.constantFrom<unknown>(true, false, { type: "string" }),
      }),
      fc.record({
        patternProperties: fc.dictionary(pattern, tie("schema"), { maxKeys: 1 }),
        unevaluatedProperties: fc.boolean(),
      }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.tuple(tie("schema"), tie("schema")).map(([when, so]) =>
        Object.fromEntries([
          ["if", when],
          ["else", so],
        ]),
      ),
      fc.record({ not: tie("schema") }),
      fc.record({ propertyNames: tie("leaf") }),
      fc.record({ items: tie("schema") }),
    ),
  })).schema;
  const value = fc.letrec<{ readonly value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom<unknown>("a", "b", "ab", "c", "x-a", 1, null),
      fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }),
      fc.array(tie("value"), { maxLength: 2 }),
    ),
  })).value;

  it("mean what the validator takes them to mean", () => {
    fc.assert(
      fc.property(schema, value, (wanted, found) => {
        const expected = new Validator(structuredClone(wanted), "2020-12", true).validate(found).valid;
        expect(fits(wanted, found)).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });
});
