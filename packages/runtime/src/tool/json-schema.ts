/** Values against JSON Schemas of the draft 2020-12. */
import type { Json } from "@pawl/tool-value";
import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { copied } from "./schema-form.ts";

/** Where a value does not fit, as a JSON pointer, and why. */
export interface SchemaMismatch {
  readonly at: string;
  readonly why: string;
}

const holdsBigint = (json: unknown): boolean =>
  typeof json === "bigint" || (typeof json === "object" && json !== null && Object.values(json).some(holdsBigint));

/** Of which schema the keyword is that does not fit. */
const schemaOf = ({ keywordLocation }: OutputUnit): string =>
  keywordLocation.slice(0, keywordLocation.lastIndexOf("/"));

const unknownTo = new Set(["additionalProperties", "unevaluatedProperties"]);

/** What decides comes last. A property that no schema knows may be another's wrong name: which are missing is said too. */
const mismatchIn = (errors: readonly OutputUnit[]): SchemaMismatch => {
  const last = errors.at(-1);
  if (last === undefined) return { at: "#", why: "does not fit its schema" };
  const { instanceLocation: at, keyword, error } = last;
  const above = errors.at(-2);
  const isUnknown = keyword === "false" && above !== undefined && unknownTo.has(above.keyword);
  const missing = errors.filter(
    (of) => of.keyword === "required" && schemaOf(of) === schemaOf(isUnknown ? above : last),
  );
  if (isUnknown) {
    const unknown = above.error.replace(/ does not match \w+ properties schema\.$/, " is not expected.");
    return { at: above.instanceLocation, why: [unknown, ...missing.map((of) => of.error)].join(" ") };
  }
  if (keyword === "required") return { at, why: missing.map((of) => of.error).join(" ") };
  return { at, why: keyword === "false" ? "Nothing is expected here." : error };
};

export type SchemaMismatches = (value: Json) => SchemaMismatch | undefined;

export const mismatchesOf = (schema: object | boolean): SchemaMismatches => {
  const validator = new Validator(copied(schema) as Schema | boolean, "2020-12", true);
  return (value) => {
    const { valid, errors } = validator.validate(holdsBigint(value) ? copied(value) : value);
    return valid ? undefined : mismatchIn(errors);
  };
};
