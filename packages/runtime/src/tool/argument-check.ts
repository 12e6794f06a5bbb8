/**
 * Checks of values while a runtime works: arguments of calls, in each of their forms, and payloads of process events. They bring the
 * validator of JSON Schema along, which a page loads with the engine only.
 */
import type { OutputUnit } from "@cfworker/json-schema";
import type { ProcessRow } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type JsonSchema, type Parameters, isIoTs, isStandard } from "./argument.ts";
import { copied } from "./json-schema.ts";
import { validateOf } from "./schema-pattern.ts";

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

/** Arguments as the body takes them, or `{path}: {expectation}`. */
export type Checked = E.Either<string, unknown>;
export type Checker = (args: Json) => Promise<Checked>;

const path = (steps: readonly unknown[]): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${String(step)}`),
    "arguments",
  );

const ioTsChecker =
  <A>(codec: t.Type<A, unknown>): Checker =>
  async (args) => {
    const decoded = codec.decode(args);
    if (E.isRight(decoded)) return decoded;
    const [first] = decoded.left;
    const steps = (first?.context ?? []).slice(1).map(({ key }) => key);
    return E.left(`${path(steps)}: ${first?.message ?? `expected ${first?.context.at(-1)?.type.name ?? codec.name}`}`);
  };

const standardChecker =
  (schema: StandardSchemaV1): Checker =>
  async (args) => {
    const result = await schema["~standard"].validate(args);
    const [first] = result.issues ?? [];
    if (first === undefined) return E.right("value" in result ? result.value : args);
    const steps = (first.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
    return E.left(`${path(steps)}: ${first.message}`);
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

const schemaChecker = (schema: JsonSchema): Checker => {
  const mismatchOf = mismatchesOf(schema);
  return async (args) => {
    const mismatch = mismatchOf(args);
    return mismatch === undefined ? E.right(args) : E.left(`${path(stepsOf(mismatch.at, args))}: ${mismatch.why}`);
  };
};

/** Makes the check of a tool's arguments. Without `parameters` everything passes. */
export const checkerOf = <A>(parameters: Parameters<A> | undefined): Checker => {
  if (parameters === undefined) return async (args) => E.right(args);
  if (isIoTs<A>(parameters)) return ioTsChecker(parameters);
  return isStandard(parameters) ? standardChecker(parameters) : schemaChecker(parameters);
};

/** Checks the arguments of one call. */
export const checkArgs = <A>(tool: { readonly parameters?: Parameters<A> }, args: Json): Promise<Checked> =>
  checkerOf(tool.parameters)(args);
