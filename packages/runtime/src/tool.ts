/** Tools as their authors write them: a manifest, a schema for the arguments, and a body. */
import { type Tool, plainTool } from "@pawl/sansio-core";
import { type Json, type ToolResult, describe, encode, err, fromJs, isToolResult, resultOf } from "@pawl/tool-value";
import { type Schema, Validator } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import type { ToolContext } from "./context/context.ts";
import { ToolError } from "./error.ts";

/** JSON Schema, as plain JSON. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}
export type Parameters<A> = t.Type<A, unknown> | StandardSchemaV1<unknown, A> | JsonSchema;

export interface ToolDefinition<A = unknown> extends Partial<Omit<Tool, "id" | "name" | "checks" | "prepares">> {
  readonly name: string;
  /** `tool:{name}`, unless it says otherwise. */
  readonly id?: string;
  readonly description?: string;
  readonly parameters?: Parameters<A>;
  /** Deterministic enrichment before the call is journaled; its payload is handed to the body. */
  readonly prepare?: (args: A) => Json | Promise<Json>;
  readonly execute: (args: A, context: ToolContext) => unknown;
}

/** A tool with the type of its arguments taken from its schema; who runs it checks them, and need not know the type. */
export const defineTool = <A = unknown>(definition: ToolDefinition<A>): ToolDefinition =>
  definition as unknown as ToolDefinition;

/** What a definition says of its tool to the core; the rest is between its schema and its body. */
const manifestFields = [
  "id",
  "availability",
  "scheduling",
  "retry_policy",
  "policy",
  "durable",
  "hints",
  "divergence",
  "recovery",
  "approval_ms",
] as const;

/** What the core is told of a tool. */
export const manifestOf = (tool: ToolDefinition): Tool => {
  const said = manifestFields.flatMap((field) => (tool[field] === undefined ? [] : [[field, tool[field]]]));
  const asked = { checks: tool.parameters !== undefined, prepares: tool.prepare !== undefined };
  return plainTool(tool.name, { ...(Object.fromEntries(said) as Partial<Tool>), ...asked });
};

const isStandard = (schema: object): schema is StandardSchemaV1 => "~standard" in schema;

const path = (steps: readonly unknown[]): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${String(step)}`),
    "arguments",
  );

/** Why arguments do not fit, in words: `{path}: {what was wanted}`. */
export type Checked = E.Either<string, unknown>;

const checkIoTs = (codec: t.Type<unknown, unknown>, args: Json): Checked =>
  E.mapLeft(([first]: t.Errors) => {
    const steps = (first?.context ?? []).slice(1).map(({ key }) => key);
    return `${path(steps)}: ${first?.message ?? `expected ${first?.context.at(-1)?.type.name ?? codec.name}`}`;
  })(codec.decode(args));

const checkStandard = async (schema: StandardSchemaV1, args: Json): Promise<Checked> => {
  const result = await schema["~standard"].validate(args);
  const [first] = result.issues ?? [];
  if (first === undefined) return E.right("value" in result ? result.value : args);
  const steps = (first.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
  return E.left(`${path(steps)}: ${first.message}`);
};

const checkJsonSchema = (schema: JsonSchema, args: Json): Checked => {
  const { valid, errors } = new Validator(schema as Schema, "2020-12", true).validate(args);
  if (valid) return E.right(args);
  const last = errors.at(-1);
  const steps = (last?.instanceLocation ?? "#").split("/").slice(1);
  return E.left(`${path(steps)}: ${last?.error ?? "does not fit its schema"}`);
};

/** The arguments as the body takes them, or why they do not fit. */
export const checkArgs = async ({ parameters }: ToolDefinition, args: Json): Promise<Checked> => {
  if (parameters === undefined) return E.right(args);
  if (parameters instanceof t.Type) return checkIoTs(parameters, args);
  return isStandard(parameters) ? checkStandard(parameters, args) : checkJsonSchema(parameters, args);
};

/** What a body returned, as a result: what it says is one, or any value. */
export const resultOfReturned = (returned: unknown): ToolResult =>
  isToolResult(returned) ? returned : resultOf(returned === undefined ? null : returned);

/** What a body threw, as a result, if the tool meant a model to see it. */
export const resultOfThrown = (thrown: unknown): ToolResult | undefined =>
  thrown instanceof ToolError ? err(thrown.message.toWellFormed()) : undefined;

/** JSON of what a JavaScript caller hands in. */
export const jsonOf = (input: unknown): E.Either<string, Json> => E.bimap(describe, encode)(fromJs(input));
