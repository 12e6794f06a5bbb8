/** Values against JSON Schemas of the draft 2020-12. */
import type { Json } from "@pawl/tool-value";
import { type Schema, Validator, dereference } from "@cfworker/json-schema";
import { misfitOfForm, shown } from "./schema-form.ts";

/** Where a value does not fit, as a JSON pointer, and why. */
export interface SchemaMisfit {
  readonly at: string;
  readonly why: string;
}

const holdsBigint = (json: unknown): boolean =>
  typeof json === "bigint" || (typeof json === "object" && json !== null && Object.values(json).some(holdsBigint));

/** A copy for the validator, which writes into its schemas and knows no integers but numbers. */
const copied = (json: unknown): unknown => {
  if (typeof json === "bigint") return Number(json);
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(copied);
  return Object.fromEntries(Object.entries(json).map(([key, part]) => [key, copied(part)]));
};

export type SchemaMisfits = (value: Json) => SchemaMisfit | undefined;

export const misfitsOf = (schema: object | boolean): SchemaMisfits => {
  const validator = new Validator(copied(schema) as Schema | boolean, "2020-12", true);
  return (value) => {
    const { valid, errors } = validator.validate(holdsBigint(value) ? copied(value) : value);
    if (valid) return undefined;
    const last = errors.at(-1);
    return { at: last?.instanceLocation ?? "#", why: last?.error ?? "does not fit its schema" };
  };
};

/** The first reference in a schema that names no part of it. */
const missingRefIn = (schema: object | boolean): string | undefined => {
  const parts = dereference(copied(schema) as Schema | boolean);
  const refs = Object.values(parts).flatMap((part) => (typeof part === "object" ? [part] : []));
  return refs.find(({ __absolute_ref__: ref }) => ref !== undefined && parts[ref] === undefined)?.$ref;
};

/** Why nothing can be held against a schema, if so. */
export const misfitOfSchema = (schema: Json): string | undefined => {
  const misfit = misfitOfForm(schema);
  if (misfit !== undefined) return misfit;
  try {
    const ref = missingRefIn(schema as object | boolean);
    return ref === undefined ? undefined : `\`$ref\` ${shown(ref)} names no part of the schema`;
  } catch (thrown) {
    return `it can not be compiled: ${String(thrown)}`;
  }
};
