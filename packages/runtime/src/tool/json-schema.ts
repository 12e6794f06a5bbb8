/**
 * JSON Schema, draft 2020-12. A schema is checked for its own form first, so that its author hears of a mistake when the tool is
 * defined, not when it is called; then it is compiled to a check of values.
 */
import type { Json } from "@pawl/tool-value";
import { type Schema, dereference, type OutputUnit, Validator } from "@cfworker/json-schema";
import { isObject } from "../encoding.ts";
import type { ProcessRow } from "@pawl/sansio-core/driver";

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

const isPattern = (found: Json): boolean => {
  if (!isText(found)) return false;
  try {
    return new RegExp(found, "u") instanceof RegExp;
  } catch {
    return false;
  }
};

const types: readonly Json[] = ["array", "boolean", "integer", "null", "number", "object", "string"];
const type = wants(`one of ${types.map(shown).join(", ")}, or a list of them`, (found) =>
  isList(found) ? found.length > 0 && found.every((one) => types.includes(one)) : types.includes(found),
);
const text = wants("a text", isText);
const texts = wants("a list of texts", isTexts);
const number = wants("a number", isNumber);
const count = wants("a whole number from 0", isCount);
const flag = wants("true or false", (found) => typeof found === "boolean");
const pattern = wants("a regular expression of Unicode mode (`u`)", isPattern);

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
  ...under(text, "$id", "$ref", "$anchor", "format", "title", "description"),
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

/** Locates a mismatch by a JSON pointer, and explains it. */
export interface SchemaMismatch {
  readonly at: string;
  readonly why: string;
}

const holdsBigint = (json: unknown): boolean =>
  typeof json === "bigint" || (typeof json === "object" && json !== null && Object.values(json).some(holdsBigint));

/** Returns the location of the schema that has the failing keyword. */
const schemaOf = ({ keywordLocation }: OutputUnit): string =>
  keywordLocation.slice(0, keywordLocation.lastIndexOf("/"));

const unknownTo = new Set(["additionalProperties", "unevaluatedProperties"]);

/**
 * Picks the error to report: the last one decides. An unknown property may be a misspelt one, so the report names missing
 * properties as well.
 */
const mismatchIn = (errors: readonly OutputUnit[]): SchemaMismatch => {
  const last = errors.at(-1);
  if (last === undefined) return { at: "#", why: "does not fit its schema" };
  const { instanceLocation: at, keyword, error } = last;
  const above = errors.at(-2);
  const isUnknown = keyword === "false" && above !== undefined && unknownTo.has(above.keyword);
  const missing = errors.filter(
    (one) => one.keyword === "required" && schemaOf(one) === schemaOf(isUnknown ? above : last),
  );
  if (isUnknown) {
    const unknown = above.error.replace(/ does not match \w+ properties schema\.$/, " is not expected.");
    return { at: above.instanceLocation, why: [unknown, ...missing.map((one) => one.error)].join(" ") };
  }
  if (keyword === "required") return { at, why: missing.map((one) => one.error).join(" ") };
  return { at, why: keyword === "false" ? "Nothing is expected here." : error };
};

/** Returns the mismatch of a value, if there is one. */
export type SchemaMismatches = (value: Json) => SchemaMismatch | undefined;

/** Compiles a schema. */
export const mismatchesOf = (wanted: object | boolean): SchemaMismatches => {
  const validator = new Validator(copied(wanted) as Schema | boolean, "2020-12", true);
  return (value) => {
    const { valid, errors } = validator.validate(holdsBigint(value) ? copied(value) : value);
    return valid ? undefined : mismatchIn(errors);
  };
};

/** Explains why the payload of a process event does not fit its type. An undeclared type is refused elsewhere. */
export const payloadMismatch = (row: ProcessRow | undefined, eventType: string, payload: Json): string | undefined => {
  const declared = row?.registration.event_types.find(({ name }) => name === eventType);
  if (declared === undefined) return undefined;
  const wanted = declared.payload_schema.schema;
  if (wanted === true || (typeof wanted === "object" && wanted !== null && Object.keys(wanted).length === 0))
    return undefined;
  const mismatch = mismatchesOf(wanted as object | boolean)(payload);
  return mismatch && `${mismatch.at}: ${mismatch.why}`.toWellFormed();
};
