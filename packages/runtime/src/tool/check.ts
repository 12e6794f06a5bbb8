/**
 * Checks arguments and results against their schemas, in each of their forms, and payloads of process events too. The
 * validator of JSON Schema comes with this file, which a page loads with the engine only.
 */
import type { OutputUnit } from "@cfworker/json-schema";
import type { ProcessRow } from "@pawl/sansio-core/driver";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Json, type ToolResult, done, failureOutput, isToolResult, runtimeFailure } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type JsonSchema, type Schema, isIoTs, isStandard, jsonOf } from "./argument.ts";
import { copied } from "./json-schema.ts";
import { isExecutionResult } from "./result.ts";
import { validateOf } from "./schema-pattern.ts";

/** Locates a mismatch by a JSON pointer, and explains it. */
interface SchemaMismatch {
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
type SchemaMismatches = (value: Json) => SchemaMismatch | undefined;

/** Compiles a schema. */
export const mismatchesOf = (wanted: object | boolean): SchemaMismatches => {
  const validate = validateOf(wanted);
  return (value) => {
    const { valid, errors } = validate(holdsBigint(value) ? copied(value) : value);
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

/** A value as its schema decodes it, or `{path}: {expectation}`. */
export type Checked = E.Either<string, unknown>;
export type Checker = (value: Json) => Promise<Checked>;
/** A check that is done at once, but for a standard schema that takes its time. */
type Check = (value: Json) => Checked | Promise<Checked>;

/** Writes the place of a value in the arguments or in the result. */
const path = (root: string, steps: readonly unknown[]): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${String(step)}`),
    root,
  );

const ioTsCheck =
  <A>(codec: t.Type<A, unknown>, root: string): Check =>
  (args) => {
    const decoded = codec.decode(args);
    if (E.isRight(decoded)) return decoded;
    const [first] = decoded.left;
    const steps = (first?.context ?? []).slice(1).map(({ key }) => key);
    return E.left(
      `${path(root, steps)}: ${first?.message ?? `expected ${first?.context.at(-1)?.type.name ?? codec.name}`}`,
    );
  };

const standardCheck = (schema: StandardSchemaV1, root: string): Check => {
  const checked = (args: Json, result: StandardSchemaV1.Result<unknown>): Checked => {
    const [first] = result.issues ?? [];
    if (first === undefined) return E.right("value" in result ? result.value : args);
    const steps = (first.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
    return E.left(`${path(root, steps)}: ${first.message}`);
  };
  return (args) => {
    const result = schema["~standard"].validate(args);
    return result instanceof Promise ? result.then((later) => checked(args, later)) : checked(args, result);
  };
};

/** Splits a JSON pointer into steps; a step into a list is a number. */
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

const schemaCheck = (schema: JsonSchema, root: string): Check => {
  const mismatchOf = mismatchesOf(schema);
  return (args) => {
    const mismatch = mismatchOf(args);
    return mismatch === undefined
      ? E.right(args)
      : E.left(`${path(root, stepsOf(mismatch.at, args))}: ${mismatch.why}`);
  };
};

const checkOf = <A>(schema: Schema<A>, root: string): Check => {
  if (isIoTs<A>(schema)) return ioTsCheck(schema, root);
  return isStandard(schema) ? standardCheck(schema, root) : schemaCheck(schema, root);
};

/** Checks a value in one go, as a body does between two answers; a schema that takes its time is a problem. */
export const checkedNow = <A>(schema: Schema<A>, value: Json, root: string): E.Either<string, A> => {
  const checked = checkOf(schema, root)(value);
  if (!(checked instanceof Promise)) return checked as E.Either<string, A>;
  return E.left(`${root}: its schema checks asynchronously, and a body cannot wait for that`);
};

/** Makes the check of a tool's arguments, or of its result. Without a schema everything passes. */
export const checkerOf = <A>(schema: Schema<A> | undefined, root = "arguments"): Checker => {
  if (schema === undefined) return async (args) => E.right(args);
  const check = checkOf(schema, root);
  return async (args) => check(args);
};

/** Checks the arguments of one call. */
export const checkArgs = <A>(tool: { readonly inputSchema?: Schema<A> }, args: Json): Promise<Checked> =>
  checkerOf(tool.inputSchema)(args);

/** Reads the value of a result that says that it is a success; undefined where there is none to be checked. */
const successIn = (returned: unknown): { readonly value: unknown } | undefined => {
  if (isToolResult(returned)) {
    const { outcome } = returned.type === "done" ? returned.output : { outcome: undefined };
    return outcome?.status === "success" ? { value: outcome.payload } : undefined;
  }
  if (!isExecutionResult(returned)) return { value: returned };
  return returned.type === "success" ? { value: returned.value } : undefined;
};

const invalid = (name: string, why: string): ToolResult => {
  const message = `the result of tool \`${name}\` does not fit its \`outputSchema\`: ${why}`;
  return done(failureOutput(runtimeFailure("internal", "invalid_tool_output", message)));
};

/** JSON Schema speaks of JSON: a class with `toJSON`, or a missing field, is what its JSON is. */
const readBy = (schema: Schema<unknown>, value: unknown): unknown => {
  if (isIoTs(schema) || isStandard(schema)) return value;
  const json = jsonOf(value ?? null);
  return E.isRight(json) ? json.right : value;
};

/** Makes the check of what a step returns, by any of the three forms: what it decodes that to, or what is wrong. */
export const outputChecker = (schema: Schema<unknown>): ((returned: unknown) => Promise<Checked>) => {
  const check = checkerOf(schema, "result");
  return (returned) => check(readBy(schema, returned) as Json);
};

/**
 * Makes the check of what a body returns: a success becomes what its schema decodes it to, or a failure if it does not fit.
 * Failures and pending results pass.
 */
export const resultChecker = (name: string, schema: Schema<unknown>): ((returned: unknown) => Promise<unknown>) => {
  const check = checkerOf(schema, "result");
  return async (returned) => {
    const success = successIn(returned);
    if (success === undefined) return returned;
    const value = readBy(schema, success.value);
    const checked = await check(value as Json);
    if (E.isLeft(checked)) return invalid(name, checked.left);
    return checked.right === value ? returned : checked.right;
  };
};
