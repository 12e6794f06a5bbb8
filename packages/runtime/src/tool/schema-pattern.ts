/**
 * Patterns of JSON Schemas in linear time: schemas may come from foreign servers, and the values come from models. The
 * validator would run `pattern` and `patternProperties` on the platform's engine, which backtracks, so it gets schemas
 * without them. A `pattern` becomes a format, which the validator looks up in a table. `patternProperties` becomes
 * `properties`, for the names that occur in the value at hand. The one format of the validator that backtracks is replaced.
 */
import { type OutputUnit, type Schema, Validator, format } from "@cfworker/json-schema";
import { linearPattern } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { copied } from "./json-schema.ts";

type Test = (text: string) => boolean;
interface Tests {
  readonly [pattern: string]: Test;
}

/** Begins the name of the format that stands for a pattern. No other format begins with NUL. */
const mark = "\u0000";

const isObject = (part: unknown): part is Record<string, unknown> => typeof part === "object" && part !== null;

const mapsOfSchemas = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const ofLists = ["allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalItems", "unevaluatedItems", "contains"];
const ofObjects = ["additionalProperties", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else"];
const schemas = [...ofLists, ...ofObjects];

const own = (schema: Record<string, unknown>, keyword: string): unknown =>
  Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;

/** Calls `visit` with each schema in a schema, the outer ones first. */
const eachSchema = (schema: unknown, visit: (schema: Record<string, unknown>) => void): void => {
  if (Array.isArray(schema)) return schema.forEach((one) => eachSchema(one, visit));
  if (!isObject(schema)) return;
  visit(schema);
  for (const keyword of mapsOfSchemas)
    Object.values(own(schema, keyword) ?? {}).forEach((one) => eachSchema(one, visit));
  for (const keyword of schemas) eachSchema(own(schema, keyword), visit);
};

/** `defineTool` refuses patterns that do not compile. Of one that came past it, no text is known to match. */
const testOf = (pattern: string): Test => {
  const compiled = linearPattern(pattern);
  return E.isRight(compiled) ? compiled.right : () => false;
};

const isUrl: Test = (text) => /^(?:https?|ftp):\/\//i.test(text) && !/\s/.test(text) && URL.canParse(text);

/** Turns each `pattern` of a schema into a format, and adds its test to `tests`. */
const patternsToFormats = (schema: unknown, tests: Record<string, Test>): void =>
  eachSchema(schema, (part) => {
    if (own(part, "format") === "url") tests["url"] = isUrl;
    const pattern = own(part, "pattern");
    if (typeof pattern !== "string") return;
    delete part["pattern"];
    tests[mark + pattern] ??= testOf(pattern);
    const allOf = own(part, "allOf");
    part["allOf"] = [...(Array.isArray(allOf) ? allOf : []), { format: mark + pattern }];
  });

/** Collects the names of all properties in a value. */
const namesIn = (value: unknown, names = new Set<string>()): ReadonlySet<string> => {
  if (!isObject(value)) return names;
  for (const [name, part] of Object.entries(value)) namesIn(part, Array.isArray(value) ? names : names.add(name));
  return names;
};

/** Turns each `patternProperties` of a schema into `properties`, for the names that there are. */
const patternsToNames = (schema: unknown, names: ReadonlySet<string>, tests: Record<string, Test>): void =>
  eachSchema(schema, (part) => {
    const patterns = own(part, "patternProperties");
    if (!isObject(patterns)) return;
    delete part["patternProperties"];
    const properties = new Map(Object.entries(own(part, "properties") ?? {}));
    for (const [pattern, wanted] of Object.entries(patterns)) {
      const test = (tests[mark + pattern] ??= testOf(pattern));
      for (const name of [...names].filter(test)) {
        const before = properties.get(name);
        properties.set(name, before === undefined ? copied(wanted) : { allOf: [before, copied(wanted)] });
      }
    }
    part["properties"] = Object.fromEntries(properties);
  });

const { url: platformUrl } = format;

/** Runs a validation with the tests in the validator's table of formats. */
const withFormats = <A>(tests: Tests, validate: () => A): A => {
  const table: Record<string, Test | undefined> = format;
  Object.assign(table, tests);
  try {
    return validate();
  } finally {
    for (const name of Object.keys(tests)) delete table[name];
    table["url"] = platformUrl;
  }
};

/** Validates values against one schema. */
export type Validate = (value: unknown) => { readonly valid: boolean; readonly errors: readonly OutputUnit[] };

const holds = (schema: unknown, keyword: string): boolean => {
  let found = false;
  eachSchema(schema, (part) => (found ||= Object.hasOwn(part, keyword)));
  return found;
};

const validatorOf = (schema: unknown): Validator => new Validator(schema as Schema | boolean, "2020-12", true);

const inWordsOf = (unit: OutputUnit): OutputUnit =>
  unit.error.startsWith(`String does not match format "${mark}`)
    ? { ...unit, keyword: "pattern", error: "String does not match pattern." }
    : unit;

/** Compiles a schema of draft 2020-12. */
export const validateOf = (wanted: object | boolean): Validate => {
  const schema = copied(wanted);
  const tests: Record<string, Test> = {};
  patternsToFormats(schema, tests);
  const fixed = holds(schema, "patternProperties") ? undefined : validatorOf(schema);
  const validatorFor = (value: unknown): Validator => {
    const one = copied(schema);
    patternsToNames(one, namesIn(value), tests);
    return validatorOf(one);
  };
  return (value) => {
    const validator = fixed ?? validatorFor(value);
    const { valid, errors } = withFormats(tests, () => validator.validate(value));
    return { valid, errors: errors.map(inWordsOf) };
  };
};
