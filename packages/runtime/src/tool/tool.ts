/**
 * Tools as authors write them: a manifest, a schema of the arguments, and a body. `defineTool` refuses a definition that could not
 * run. The same definition gives the manifest on the wire, the tool of the core, and the tool of a flow.
 */
import * as E from "fp-ts/lib/Either.js";
import { ToolContract, ToolManifest, contractFields, hintFields, manifestFields } from "./manifest.ts";
import { Refused, shownOf } from "../error.ts";
import { unknownKeyIn } from "../error.ts";
import { type Tool, plainTool } from "@pawl/sansio-core";
import { type Codec, type Json, type ToolResult, describe, read } from "@pawl/tool-value";
import { type ArgsOf, type Schema, jsonSchemaOf, problemOfJsonSchema, problemOfAnySchema } from "./argument.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import type { ToolContext } from "../body/facet/context.ts";
import type { PrepareContext } from "./live-tool.ts";
import type { FlowTool } from "@pawl/sansio-core/driver";

const definitionFields = {
  ...manifestFields,
  ...contractFields,
  inputSchema: 1,
  prepare: 1,
  execute: 1,
  background: 1,
  onCrashLoop: 1,
};

/** Rejects unknown fields: a misspelt `durable` would silently make the tool non-durable. */
const admitToolFields = (tool: ToolDefinition): void => {
  const unknownKey = unknownKeyIn("", tool, definitionFields) ?? unknownKeyIn("hints.", tool.hints ?? {}, hintFields);
  if (unknownKey !== undefined) throw new Refused("invalid_tool", `tool \`${tool.name}\`: ${unknownKey}`);
};

type Wire = Partial<Omit<ToolManifest, "id" | "name" | "availability">> & Partial<ToolContract>;

export interface ToolDefinition<A = unknown> extends Wire {
  readonly name: string;
  /** Default: `tool:{name}`. */
  readonly id?: string;
  readonly availability?: Tool["availability"];
  readonly inputSchema?: Schema<A>;
  /** Enriches a call before it is journaled, deterministically: the body gets the payload; a result ends the call. */
  readonly prepare?: (args: A, context: PrepareContext) => Json | ToolResult | Promise<Json | ToolResult>;
  readonly execute: (args: A, context: ToolContext) => unknown;
  /**
   * Decides for a call whose process dies again and again: by default it is parked, until somebody resolves it or
   * another version of the tool takes it up.
   */
  readonly onCrashLoop?: "park" | "fail";
  /** Executes as a background run: streams into the sink, and returns or throws as `execute` does. */
  readonly background?: (args: A, context: ToolContext, sink: BackgroundSink) => unknown;
}

interface DefineTool {
  <const S extends Schema<unknown>>(
    definition: Omit<ToolDefinition<ArgsOf<S>>, "inputSchema"> & { readonly inputSchema: S },
  ): ToolDefinition;
  <A = unknown>(definition: ToolDefinition<A>): ToolDefinition;
}

/**
 * Defines a tool. Its arguments have the type of its schema, and are checked before each run. Throws `invalid_tool` for a
 * definition that could not run.
 */
export const defineTool: DefineTool = (given: unknown) => {
  const definition = given as ToolDefinition;
  wireManifestOf(definition);
  contractOf(definition);
  admitToolFields(definition);
  return definition;
};

const wireFields = (definition: ToolDefinition): object => {
  const {
    inputSchema,
    prepare: _prepare,
    execute: _execute,
    background: _background,
    availability,
    onCrashLoop,
    ...fields
  } = definition;
  const schema = inputSchema === undefined ? undefined : jsonSchemaOf(inputSchema);
  return {
    id: `tool:${definition.name}`,
    ...(availability === undefined ? {} : { availability: { base: availability } }),
    ...(onCrashLoop === undefined ? {} : { on_crash_loop: onCrashLoop }),
    ...(schema === undefined ? {} : { input_schema: schema }),
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
  };
};

const refused = (message: string): Refused => new Refused("invalid_tool", message);

/** Refuses what is no object at all. */
export const admittedDefinition = (given: unknown): ToolDefinition => {
  if (typeof given === "object" && given !== null) return given as ToolDefinition;
  throw refused(`a tool is expected to be what \`defineTool\` gives, found ${shownOf(given)}`);
};

/** Refuses blank names: models call tools by name. */
export const admitName = (what: string, name: unknown): void => {
  if (typeof name === "string" && name.trim() !== "") return;
  const found = typeof name === "string" ? JSON.stringify(name) : typeof name;
  throw refused(`${what}: a tool's name is expected to be a text that is not blank, found ${found}`);
};

/** Refuses a schema that arguments cannot be checked against. */
export const admitSchema = (what: string, schema: unknown, problemOf = problemOfJsonSchema): void => {
  const problem = problemOf(schema);
  if (problem !== undefined) throw refused(`${what} does not fit: ${problem}`);
};

const optionalParts = ["prepare", "background"] as const;

const admitParts = (definition: ToolDefinition): void => {
  for (const part of ["execute", ...optionalParts] as const) {
    const found: unknown = definition[part];
    if (typeof found === "function" || (found === undefined && part !== "execute")) continue;
    throw refused(`\`${part}\` of tool \`${definition.name}\` is expected to be a function, found ${shownOf(found)}`);
  }
};

/** Decodes a part of a definition, as if it came over the wire. */
const decoded = <A>(codec: Codec<A>, definition: ToolDefinition, what: string): A => {
  const fields = read(codec, wireFields(definition));
  if (E.isRight(fields)) return fields.right;
  throw refused(`the ${what} of tool \`${definition.name}\` does not fit: ${describe(fields.left)}`);
};

/** Returns the manifest of a tool as it is published. */
export const wireManifestOf = (given: ToolDefinition): ToolManifest => {
  const definition = admittedDefinition(given);
  admitName("a tool", definition.name);
  admitParts(definition);
  return decoded(ToolManifest, definition, "manifest");
};

/** Returns the schemas of a tool, as models and callers see them. */
export const contractOf = (definition: ToolDefinition): ToolContract => {
  admitSchema(`\`inputSchema\` of tool \`${definition.name}\``, definition.inputSchema, problemOfAnySchema);
  const contract = decoded(ToolContract, definition, "contract");
  admitSchema(`\`input_schema\` of tool \`${definition.name}\``, contract.input_schema);
  return contract;
};

/** Makes the core's tool from a manifest. */
export const coreTool = (manifest: ToolManifest, asks: Pick<Tool, "checks" | "prepares">): Tool => {
  const { id, name, scheduling, retry_policy, policy, durable, recovery, divergence, approval_ms, hints } = manifest;
  const { on_crash_loop } = manifest;
  return plainTool(name, {
    id,
    availability: manifest.availability_override ?? manifest.availability.base,
    scheduling,
    retry_policy,
    policy,
    durable,
    hints: { readonly: hints.readonly === true, idempotent: hints.idempotent === true },
    divergence,
    ...(recovery === undefined ? {} : { recovery }),
    ...(on_crash_loop === "fail" ? { on_crash_loop } : {}),
    ...(approval_ms === undefined ? {} : { approval_ms }),
    ...asks,
  });
};

/** Returns the manifest of a tool as the core knows it. */
export const manifestOf = (definition: ToolDefinition): Tool =>
  coreTool(wireManifestOf(definition), {
    checks: definition.inputSchema !== undefined,
    prepares: definition.prepare !== undefined,
  });

const member = (json: Json | undefined, name: string): Json | undefined =>
  typeof json === "object" && json !== null && !Array.isArray(json) && Object.hasOwn(json, name)
    ? (json as { readonly [name: string]: Json })[name]
    : undefined;

const scalars: ReadonlyMap<Json | undefined, string> = new Map([
  ["string", "String"],
  ["integer", "Int"],
  ["number", "Float"],
  ["boolean", "Bool"],
]);

const typeOf = (schema: Json): string | undefined => {
  const type = member(schema, "type");
  if (type !== "array") return scalars.get(type);
  const item = scalars.get(member(member(schema, "items"), "type"));
  return item === undefined ? "List" : `List<${item}>`;
};

/** Lists arguments with their flow types. An argument whose schema names no single type is left out: it stays a text. */
export const flowParametersOf = (schema: Json | undefined): FlowTool["parameters"] =>
  Object.entries(member(schema, "properties") ?? {}).flatMap(([name, property]) => {
    const type = typeOf(property as Json);
    return type === undefined ? [] : [[name, type] as const];
  });

/** Makes an entry for the `tools` of a flow, under the tool's own name. */
export const flowToolOf = (definition: ToolDefinition): FlowTool => {
  const { id, name } = manifestOf(definition);
  return { id, name, parameters: flowParametersOf(contractOf(definition).input_schema) };
};
