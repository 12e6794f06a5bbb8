/** Values against JSON Schemas of the draft 2020-12. */
import type { Json } from "@pawl/tool-value";
import { type Schema, Validator } from "@cfworker/json-schema";

/** Where a value does not fit, as a JSON pointer, and why. */
export interface SchemaMisfit {
  readonly at: string;
  readonly why: string;
}

export const misfitsOf = (schema: object | boolean): ((value: Json) => SchemaMisfit | undefined) => {
  const validator = new Validator(schema as Schema | boolean, "2020-12", true);
  return (value) => {
    const { valid, errors } = validator.validate(value);
    if (valid) return undefined;
    const last = errors.at(-1);
    return { at: last?.instanceLocation ?? "#", why: last?.error ?? "does not fit its schema" };
  };
};
