/**
 * The arguments of a tool. Authors describe them by a codec of io-ts, by a standard schema (zod, valibot), or by JSON Schema; each
 * form gives the type of the arguments, their check, and, where it can, the JSON Schema that models see.
 */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type Json, describe, jsonFromJs } from "@pawl/tool-value";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { problemOfSchema } from "./json-schema.ts";

/** JSON Schema, as plain JSON. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}
/** A schema in any of the three forms. */
export type Schema<A> = t.Type<A, unknown> | StandardSchemaV1<unknown, A> | JsonSchema;

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

/** Derives a type from the keywords `const`, `enum`, `type`, `items` and `properties` of a JSON Schema. */
type ArgsOfSchema<S> = S extends { readonly const: infer C }
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

/** Derives the type of the arguments from any of the three forms. */
export type ArgsOf<P> =
  P extends t.Type<infer A, unknown>
    ? A
    : P extends StandardSchemaV1<unknown, infer A>
      ? A
      : P extends JsonSchema
        ? ArgsOfSchema<P>
        : unknown;

/** Derives the type that a schema takes, before it decodes it: what a caller gives, or a body returns. */
export type Given<S> =
  S extends t.Type<infer _A, infer Encoded>
    ? Encoded
    : S extends StandardSchemaV1<infer Input, unknown>
      ? Input
      : S extends JsonSchema
        ? ArgsOfSchema<S>
        : unknown;

const isObject = (u: unknown): u is object => (typeof u === "object" && u !== null) || typeof u === "function";

export const isStandard = (schema: unknown): schema is StandardSchemaV1 => isObject(schema) && "~standard" in schema;

/** Recognises a codec by its methods, since a program may hold several copies of io-ts. */
export const isIoTs = <A>(schema: unknown): schema is t.Type<A, unknown> => isObject(schema) && "asDecoder" in schema;

/** A schema describes what it takes, and what it decodes that to. */
type Side = "input" | "output";

/** Converts a standard schema; one that JSON Schema cannot express throws, and has none. */
const jsonSchemaBy = ({ "~standard": { jsonSchema } }: StandardJSONSchemaV1, side: Side): object | undefined => {
  try {
    return jsonSchema[side]({ target: "draft-2020-12" });
  } catch {
    return undefined;
  }
};

const isJsonStandard = (schema: unknown): schema is StandardJSONSchemaV1 =>
  isStandard(schema) && "jsonSchema" in schema["~standard"];

const jsonOrNone = (input: unknown): Json | undefined => {
  const json = jsonOf(input);
  return E.isRight(json) ? json.right : undefined;
};

/** Returns the JSON Schema of a tool's arguments or result, where their form has one. */
export const jsonSchemaOf = (schema: Schema<unknown>, side: Side): Json | undefined => {
  if (isIoTs(schema)) return undefined;
  if (!isStandard(schema)) return jsonOrNone(schema);
  if (!isJsonStandard(schema)) return undefined;
  const converted = jsonSchemaBy(schema, side);
  return converted === undefined ? undefined : jsonOrNone({ ...converted });
};

/** Returns the problem with a JSON Schema. */
export const problemOfJsonSchema = (schema: unknown): string | undefined => {
  const json = jsonOf(schema);
  return E.isLeft(json) ? json.left : problemOfSchema(json.right);
};

/** Returns the problem with a schema in any of the three forms. */
export const problemOfAnySchema = (schema: unknown): string | undefined => {
  const isChecked = schema === undefined || isIoTs(schema) || isStandard(schema);
  return isChecked ? undefined : problemOfJsonSchema(schema);
};

/** Converts a JavaScript value to JSON, or explains why it has none. */
export const jsonOf = (input: unknown): E.Either<string, Json> => {
  const json = jsonFromJs(input);
  return E.isLeft(json) ? E.left(describe(json.left)) : json;
};
