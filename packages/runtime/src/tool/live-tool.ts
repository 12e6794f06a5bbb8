/**
 * A tool as the interpreter runs it, from a definition or a provider: checked, prepared, executed. Arguments are checked
 * in each of their forms, and payloads of process events too; the validator of JSON Schema comes with this file, which a
 * page loads with the engine only.
 */
import type { Tool } from "@pawl/sansio-core";
import { type Json, type ToolResult, isToolResult } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type JsonSchema, type Schema, isIoTs, isStandard, jsonOf } from "./argument.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import type { ToolContract, ToolManifest } from "./manifest.ts";
import type { ToolContext } from "../body/facet/context.ts";
import { type ToolDefinition, contractOf, coreTool, wireManifestOf } from "./tool.ts";
import type { OutputUnit } from "@cfworker/json-schema";
import type { ProcessRow } from "@pawl/sansio-core/driver";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type * as t from "io-ts";
import { copied } from "./json-schema.ts";
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

/** Makes the check of a tool's arguments. Without a schema everything passes. */
export const checkerOf = <A>(schema: Schema<A> | undefined): Checker => {
  if (schema === undefined) return async (args) => E.right(args);
  if (isIoTs<A>(schema)) return ioTsChecker(schema);
  return isStandard(schema) ? standardChecker(schema) : schemaChecker(schema);
};

/** Checks the arguments of one call. */
export const checkArgs = <A>(tool: { readonly inputSchema?: Schema<A> }, args: Json): Promise<Checked> =>
  checkerOf(tool.inputSchema)(args);

/** Lets a preparation read, and do nothing else: no effects, no processes, no attachments, no cancellation. */
export interface PrepareContext {
  readonly session: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Returns the host's context of the turn with the input of its plugins; null outside of a turn. */
  readonly turn: () => Promise<Json>;
  /** Returns the session as its host sees it, to be read only. */
  readonly snapshot: () => Promise<Json>;
  /** Metadata that the model's provider wants back with the result. */
  readonly replay?: Json;
  readonly catalog: readonly Tool[];
}

export type Verdict =
  | { readonly verdict: "valid" }
  | { readonly verdict: "invalid"; readonly message: string }
  | { readonly verdict: "no_contract" };

/** The payload of a preparation, and the arguments, perhaps replaced. */
export interface Prepared {
  readonly toolId: string;
  readonly args: Json;
  readonly payload: Json;
}

export interface LiveTool {
  readonly tool: Tool;
  readonly manifest: ToolManifest;
  readonly contract: () => ToolContract | undefined;
  /** Returns the text of the functions that run it. */
  readonly source: () => string;
  readonly check: (args: Json) => Promise<Verdict>;
  readonly prepare: (args: Json, context: PrepareContext) => Promise<Prepared | ToolResult>;
  readonly execute: (args: Json, context: ToolContext) => Promise<unknown>;
  /** Executes as a background run. Absent if the tool has no such body. */
  readonly background?: (args: Json, context: ToolContext, sink: BackgroundSink) => Promise<unknown>;
}

/** Thrown when arguments passed their check at admission and fail it now: the tool has changed since. */
class ArgumentsChanged extends TypeError {
  override readonly name = "ArgumentsChanged";
}

/** Requires the payload to be JSON, since it goes into the log. */
const preparedOf = (toolId: string, args: Json, returned: unknown): Prepared | ToolResult => {
  if (isToolResult(returned)) return returned;
  const payload = jsonOf(returned ?? null);
  if (E.isLeft(payload)) throw new TypeError(`the payload that \`${toolId}\` prepared: ${payload.left}`);
  return { toolId, args, payload: payload.right };
};

const backgroundOf = (
  { background }: ToolDefinition,
  typed: (args: Json) => Promise<unknown>,
): Pick<LiveTool, "background"> =>
  background === undefined
    ? {}
    : { background: async (args, context, sink) => background(await typed(args), context, sink) };

/** Makes a live tool from a definition. */
export const liveTool = (definition: ToolDefinition): LiveTool => {
  const manifest = wireManifestOf(definition);
  const contract = contractOf(definition);
  const checker = checkerOf(definition.inputSchema);
  const asks = { checks: definition.inputSchema !== undefined, prepares: definition.prepare !== undefined };
  const typed = async (args: Json): Promise<unknown> => {
    const checked = await checker(args);
    if (E.isLeft(checked)) throw new ArgumentsChanged(checked.left);
    return checked.right;
  };
  return {
    tool: coreTool(manifest, asks),
    manifest,
    contract: () => contract,
    source: () => `${definition.execute}${definition.background ?? ""}`,
    check: async (args) => {
      const checked = await checker(args);
      return E.isRight(checked) ? { verdict: "valid" } : { verdict: "invalid", message: checked.left };
    },
    prepare: async (args, context) =>
      preparedOf(manifest.id, args, await definition.prepare?.(await typed(args), context)),
    execute: async (args, context) => definition.execute(await typed(args), context),
    ...backgroundOf(definition, typed),
  };
};
