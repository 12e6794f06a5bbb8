/** The arguments of a tool: the forms in which an author says what they are, and how each is checked. */
import { type Json, describe, jsonFromJs } from "@pawl/tool-value";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { Refused } from "./error.ts";
import type { SchemaMisfits } from "./json-schema.ts";
import { jsonSchemas } from "./part.ts";

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

/** The arguments as the body takes them, or why they do not fit: `{path}: {what was wanted}`. */
export type Checked = E.Either<string, unknown>;
export type Checker = (args: Json) => Promise<Checked>;

const isObject = (u: unknown): u is object => (typeof u === "object" && u !== null) || typeof u === "function";

const isStandard = (schema: unknown): schema is StandardSchemaV1 => isObject(schema) && "~standard" in schema;

/** Told by what it can do: there may be several copies of io-ts in a program. */
const isIoTs = <A>(schema: unknown): schema is t.Type<A, unknown> => isObject(schema) && "asDecoder" in schema;

const path = (steps: readonly unknown[]): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${String(step)}`),
    "arguments",
  );

const ioTsChecker =
  <A>(codec: t.Type<A, unknown>): Checker =>
  async (args) =>
    E.mapLeft(([first]: t.Errors) => {
      const steps = (first?.context ?? []).slice(1).map(({ key }) => key);
      return `${path(steps)}: ${first?.message ?? `expected ${first?.context.at(-1)?.type.name ?? codec.name}`}`;
    })(codec.decode(args));

const standardChecker =
  (schema: StandardSchemaV1): Checker =>
  async (args) => {
    const result = await schema["~standard"].validate(args);
    const [first] = result.issues ?? [];
    if (first === undefined) return E.right("value" in result ? result.value : args);
    const steps = (first.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
    return E.left(`${path(steps)}: ${first.message}`);
  };

/** The steps of a JSON pointer; one into a list is a number. */
const stepsOf = (pointer: string, root: Json): readonly unknown[] => {
  let at: unknown = root;
  return pointer
    .split("/")
    .slice(1)
    .map((raw) => {
      const step = decodeURIComponent(raw).replaceAll("~1", "/").replaceAll("~0", "~");
      const here = Array.isArray(at) ? Number(step) : step;
      at = typeof at === "object" && at !== null ? (at as { readonly [key: string]: unknown })[here] : undefined;
      return here;
    });
};

/** Loads the validator; nobody could look at the schema before. */
const loadedFor = async (schema: JsonSchema): Promise<SchemaMisfits> => {
  const { misfitsOf } = await jsonSchemas.load();
  const misfit = misfitOfJsonSchema(schema);
  if (misfit !== undefined) throw new Refused("invalid_tool", `the schema of the arguments does not fit: ${misfit}`);
  return misfitsOf(schema);
};

const schemaChecker = (schema: JsonSchema): Checker => {
  let misfitOf = jsonSchemas.loaded?.misfitsOf(schema);
  return async (args) => {
    misfitOf ??= await loadedFor(schema);
    const misfit = misfitOf(args);
    return misfit === undefined ? E.right(args) : E.left(`${path(stepsOf(misfit.at, args))}: ${misfit.why}`);
  };
};

/** What checks arguments; nothing is said of them, and nothing is checked. */
export const checkerOf = <A>(parameters: Parameters<A> | undefined): Checker => {
  if (parameters === undefined) return async (args) => E.right(args);
  if (isIoTs<A>(parameters)) return ioTsChecker(parameters);
  return isStandard(parameters) ? standardChecker(parameters) : schemaChecker(parameters);
};

/** The arguments of one call of a tool, as its body takes them. */
export const checkArgs = <A>(tool: { readonly parameters?: Parameters<A> }, args: Json): Promise<Checked> =>
  checkerOf(tool.parameters)(args);

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

/** Why a JSON Schema can be held against nothing, if so. Where the validator is still to be loaded that is found later. */
export const misfitOfJsonSchema = (schema: unknown): string | undefined => {
  const json = jsonOf(schema);
  return E.isLeft(json) ? json.left : jsonSchemas.loaded?.misfitOfSchema(json.right);
};

/** Why what an author said of arguments is nothing to check them by, if so. */
export const misfitOfParameters = (parameters: unknown): string | undefined => {
  const isChecked = parameters === undefined || isIoTs(parameters) || isStandard(parameters);
  return isChecked ? undefined : misfitOfJsonSchema(parameters);
};

/** JSON of what a JavaScript caller hands in. */
export const jsonOf = (input: unknown): E.Either<string, Json> => E.mapLeft(describe)(jsonFromJs(input));
