/** The arguments of a tool: the forms in which an author says what they are. */
import { type Json, describe, jsonFromJs } from "@pawl/tool-value";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { problemOfSchema } from "./schema-form.ts";

/** JSON Schema, as plain JSON. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}
export type Parameters<A> = t.Type<A, unknown> | StandardSchemaV1<unknown, A> | JsonSchema;

type Properties<P, R> = {
  -readonly [K in keyof P as K extends R ? K : never]: ArgsOfSchema<P[K]>;
} & { -readonly [K in keyof P as K extends R ? never : K]?: ArgsOfSchema<P[K]> };

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

/** The type that a JSON Schema describes, as far as its keywords `const`, `enum`, `type`, `items` and `properties` say. */
export type ArgsOfSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer M)[] }
    ? M
    : S extends { readonly type: keyof Scalars }
      ? Scalars[S["type"]]
      : S extends { readonly type: "array"; readonly items: infer I }
        ? readonly ArgsOfSchema<I>[]
        : S extends { readonly type: "object"; readonly properties: infer P }
          ? Properties<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
          : unknown;

/** The arguments that a body gets, by what its author said of them. */
export type ArgsOf<P> =
  P extends t.Type<infer A, unknown>
    ? A
    : P extends StandardSchemaV1<unknown, infer A>
      ? A
      : P extends JsonSchema
        ? ArgsOfSchema<P>
        : unknown;

const isObject = (u: unknown): u is object => (typeof u === "object" && u !== null) || typeof u === "function";

export const isStandard = (schema: unknown): schema is StandardSchemaV1 => isObject(schema) && "~standard" in schema;

/** Told by what it can do: there may be several copies of io-ts in a program. */
export const isIoTs = <A>(schema: unknown): schema is t.Type<A, unknown> => isObject(schema) && "asDecoder" in schema;

/** A standard schema that no JSON Schema says throws where it is asked for one. */
const saidBy = ({ "~standard": { jsonSchema } }: StandardJSONSchemaV1): object | undefined => {
  try {
    return jsonSchema.input({ target: "draft-2020-12" });
  } catch {
    return undefined;
  }
};

const isJsonStandard = (schema: unknown): schema is StandardJSONSchemaV1 =>
  isStandard(schema) && "jsonSchema" in schema["~standard"];

/** The JSON Schema of a tool's arguments, where their form can tell it. */
export const jsonSchemaOf = (parameters: Parameters<unknown>): Json | undefined => {
  if (isIoTs(parameters)) return undefined;
  if (!isStandard(parameters)) return E.getOrElseW(() => undefined)(jsonOf(parameters));
  if (!isJsonStandard(parameters)) return undefined;
  const schema = saidBy(parameters);
  return schema === undefined ? undefined : E.getOrElseW(() => undefined)(jsonOf({ ...schema }));
};

/** Why a JSON Schema can be held against nothing, if so. */
export const problemOfJsonSchema = (schema: unknown): string | undefined => {
  const json = jsonOf(schema);
  return E.isLeft(json) ? json.left : problemOfSchema(json.right);
};

/** Why what an author said of arguments is nothing to check them by, if so. */
export const problemOfParameters = (parameters: unknown): string | undefined => {
  const isChecked = parameters === undefined || isIoTs(parameters) || isStandard(parameters);
  return isChecked ? undefined : problemOfJsonSchema(parameters);
};

/** JSON of what a JavaScript caller hands in. */
export const jsonOf = (input: unknown): E.Either<string, Json> => E.mapLeft(describe)(jsonFromJs(input));
