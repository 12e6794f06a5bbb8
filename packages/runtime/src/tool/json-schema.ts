/**
 * JSON Schema, draft 2020-12: the form of its keywords. A schema is checked before anything is checked against it, so that its author
 * hears of a mistake when the tool is defined, not when it is called.
 */
import { type Json, isObject, linearPattern } from "@pawl/tool-value";
import { type Schema, dereference } from "@cfworker/json-schema";
import * as E from "fp-ts/lib/Either.js";

/** Returns the problem with what stands at a place of a schema. */
type Form = (found: Json, at: string) => string | undefined;

const longest = 60;
const shown = (found: Json): string => {
  const text = JSON.stringify(found, (_, part: unknown) => (typeof part === "bigint" ? Number(part) : part));
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
};

const wrong = (at: string, wanted: string, found: Json): string => `${at}: expected ${wanted}, found ${shown(found)}`;

const wants =
  (wanted: string, fits: (found: Json) => boolean): Form =>
  (found, at) =>
    fits(found) ? undefined : wrong(at, wanted, found);

const first = <A>(all: readonly A[], problem: (one: A, i: number) => string | undefined): string | undefined => {
  for (const [i, one] of all.entries()) {
    const found = problem(one, i);
    if (found !== undefined) return found;
  }
  return undefined;
};

const isText = (found: Json): found is string => typeof found === "string";
const isList = (found: Json): found is readonly Json[] => Array.isArray(found);
const isNumber = (found: Json): boolean => typeof found === "number" || typeof found === "bigint";
const isCount = (found: Json): boolean => (Number.isInteger(found) || typeof found === "bigint") && Number(found) >= 0;
const isTexts = (found: Json): boolean => isList(found) && found.every(isText);

const types: readonly Json[] = ["array", "boolean", "integer", "null", "number", "object", "string"];
const type = wants(`one of ${types.map(shown).join(", ")}, or a list of them`, (found) =>
  isList(found) ? found.length > 0 && found.every((one) => types.includes(one)) : types.includes(found),
);
const text = wants("a text", isText);
const reference = wants(
  "a reference that leads into no `patternProperties`",
  (found) => isText(found) && !found.includes("/patternProperties/"),
);
const texts = wants("a list of texts", isTexts);
const number = wants("a number", isNumber);
const count = wants("a whole number from 0", isCount);
const flag = wants("true or false", (found) => typeof found === "boolean");
const pattern: Form = (found, at) => {
  const compiled = isText(found) ? linearPattern(found) : E.left("it is no text");
  if (E.isRight(compiled)) return undefined;
  return `${wrong(at, "a regular expression of Unicode mode (`u`) that runs in linear time", found)}: ${compiled.left}`;
};

const schema: Form = (found, at) => {
  if (typeof found === "boolean") return undefined;
  if (!isObject(found)) return wrong(at, "a JSON Schema, an object or a boolean", found);
  return first(Object.entries(found), ([keyword, value]) =>
    forms.get(keyword)?.(value, at === "" ? keyword : `${at}.${keyword}`),
  );
};

const schemas: Form = (found, at) =>
  isList(found) && found.length > 0
    ? first(found, (one, i) => schema(one, `${at}[${i}]`))
    : wrong(at, "a list of JSON Schemas that is not empty", found);

const mapOf =
  (of: Form): Form =>
  (found, at) =>
    isObject(found)
      ? first(Object.entries(found), ([key, value]) => of(value, `${at}.${key}`))
      : wrong(at, "an object", found);

const properties = mapOf(schema);
const patterns: Form = (found, at) =>
  properties(found, at) ?? first(Object.keys(found as object), (key) => pattern(key, at));

const under = (form: Form, ...keywords: readonly string[]): readonly (readonly [string, Form])[] =>
  keywords.map((keyword) => [keyword, form]);

const forms: ReadonlyMap<string, Form> = new Map([
  ...under(type, "type"),
  ...under(reference, "$ref"),
  ...under(text, "$id", "$anchor", "format", "title", "description"),
  ...under(texts, "required"),
  ...under(
    wants("a list", (found) => isList(found)),
    "enum",
  ),
  ...under(number, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
  ...under(
    wants("a number above 0", (found) => isNumber(found) && Number(found) > 0),
    "multipleOf",
  ),
  ...under(count, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
  ...under(count, "minContains", "maxContains"),
  ...under(flag, "uniqueItems"),
  ...under(pattern, "pattern"),
  ...under(properties, "properties", "$defs", "definitions", "dependentSchemas"),
  ...under(patterns, "patternProperties"),
  ...under(mapOf(texts), "dependentRequired"),
  ...under(schemas, "allOf", "anyOf", "oneOf", "prefixItems"),
  ...under(schema, "additionalProperties", "unevaluatedProperties", "propertyNames", "contains", "not"),
  ...under(schema, "if", "then", "else", "additionalItems", "unevaluatedItems"),
  ...under((found, at) => (isList(found) ? schemas(found, at) : schema(found, at)), "items"),
]);

/** Returns the first keyword with a wrong value, as `{path}: {expectation}`. */
const problemOfForm = (found: Json): string | undefined => {
  const problem = schema(found, "");
  return problem?.startsWith(": ") ? problem.slice(2) : problem;
};

/** Copies a schema for the validator, which writes into its schemas and does not know bigint. */
export const copied = (json: unknown): unknown => {
  if (typeof json === "bigint") return Number(json);
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(copied);
  return Object.fromEntries(Object.entries(json).map(([key, part]) => [key, copied(part)]));
};

/** Finds the first reference that names no part of its schema. */
const missingRefIn = (json: object | boolean): string | undefined => {
  const parts = dereference(copied(json) as Schema | boolean);
  const refs = Object.values(parts).flatMap((part) => (typeof part === "object" ? [part] : []));
  return refs.find(({ __absolute_ref__: ref }) => ref !== undefined && parts[ref] === undefined)?.$ref;
};

/** Returns why values cannot be checked against a schema. */
export const problemOfSchema = (json: Json): string | undefined => {
  const problem = problemOfForm(json);
  if (problem !== undefined) return problem;
  try {
    const ref = missingRefIn(json as object | boolean);
    return ref === undefined ? undefined : `\`$ref\` ${shown(ref)} names no part of the schema`;
  } catch (thrown) {
    return `it cannot be compiled: ${String(thrown)}`;
  }
};
