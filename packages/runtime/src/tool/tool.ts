/** Tools as their authors write them: a manifest, a schema for the arguments, and a body. */
import { type Tool, plainTool } from "@pawl/sansio-core";
import { type Codec, type Json, type ToolResult, type ValueError, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type ArgsOf, type Parameters, jsonSchemaOf, problemOfJsonSchema, problemOfParameters } from "./argument.ts";
import { ToolContract, ToolManifest } from "./manifest.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import type { ToolContext } from "../body/facet/context.ts";
import { Refused } from "../error.ts";
import type { PrepareContext } from "./live-tool.ts";
import { admitToolFields } from "./field.ts";

type Wire = Partial<Omit<ToolManifest, "id" | "name" | "availability">> & Partial<ToolContract>;

export interface ToolDefinition<A = unknown> extends Wire {
  readonly name: string;
  /** `tool:{name}`, unless it says otherwise. */
  readonly id?: string;
  readonly availability?: Tool["availability"];
  readonly parameters?: Parameters<A>;
  /** Deterministic enrichment before the call is journaled: its payload is handed to the body; a result ends the call. */
  readonly prepare?: (args: A, context: PrepareContext) => Json | ToolResult | Promise<Json | ToolResult>;
  readonly execute: (args: A, context: ToolContext) => unknown;
  /** The body as a background run: it streams into the sink, and comes to an outcome, or fails as any body does. */
  readonly background?: (args: A, context: ToolContext, sink: BackgroundSink) => unknown;
}

interface DefineTool {
  <const P extends Parameters<unknown>>(
    definition: Omit<ToolDefinition<ArgsOf<P>>, "parameters"> & { readonly parameters: P },
  ): ToolDefinition;
  <A = unknown>(definition: ToolDefinition<A>): ToolDefinition;
}

/**
 * A tool with the type of its arguments taken from its schema; who runs it checks them, and need not know the type. One
 * that could not be run is refused here.
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
    parameters,
    prepare: _prepare,
    execute: _execute,
    background: _background,
    availability,
    ...said
  } = definition;
  const schema = parameters === undefined ? undefined : jsonSchemaOf(parameters);
  return {
    id: `tool:${definition.name}`,
    ...(availability === undefined ? {} : { availability: { base: availability } }),
    ...(schema === undefined ? {} : { input_schema: schema }),
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
  };
};

const refused = (message: string): Refused => new Refused("invalid_tool", message);

/** Whatever a program calls a tool. */
export const admittedDefinition = (given: unknown): ToolDefinition => {
  if (typeof given === "object" && given !== null) return given as ToolDefinition;
  throw refused(`a tool is expected to be what \`defineTool\` gives, found ${String(given)}`);
};

/** A name is what models call a tool by; an empty one would be nobody's. */
export const admitName = (what: string, name: unknown): void => {
  if (typeof name === "string" && name.trim() !== "") return;
  const found = typeof name === "string" ? JSON.stringify(name) : typeof name;
  throw refused(`${what}: a tool's name is expected to be a text that is not blank, found ${found}`);
};

/** Arguments have to be checked by it. */
export const admitSchema = (what: string, schema: unknown, problemOf = problemOfJsonSchema): void => {
  const problem = problemOf(schema);
  if (problem !== undefined) throw refused(`${what} does not fit: ${problem}`);
};

const optionalParts = ["prepare", "background"] as const;

const admitParts = (definition: ToolDefinition): void => {
  for (const part of ["execute", ...optionalParts] as const) {
    const found: unknown = definition[part];
    if (typeof found === "function" || (found === undefined && part !== "execute")) continue;
    throw refused(`\`${part}\` of tool \`${definition.name}\` is expected to be a function, found ${String(found)}`);
  }
};

/** What an author said of a tool, decoded: from there on it is as good as one from outside. */
const said = <A>(codec: Codec<A>, definition: ToolDefinition, what: string): A =>
  E.getOrElseW((error: ValueError): never => {
    throw refused(`the ${what} of tool \`${definition.name}\` does not fit: ${describe(error)}`);
  })(read(codec, wireFields(definition)));

/** A definition as it is published. */
export const wireManifestOf = (given: ToolDefinition): ToolManifest => {
  const definition = admittedDefinition(given);
  admitName("a tool", definition.name);
  admitParts(definition);
  return said(ToolManifest, definition, "manifest");
};

/** Returns the schemas of a tool, as models and callers see them. */
export const contractOf = (definition: ToolDefinition): ToolContract => {
  admitSchema(`\`parameters\` of tool \`${definition.name}\``, definition.parameters, problemOfParameters);
  const contract = said(ToolContract, definition, "contract");
  admitSchema(`\`input_schema\` of tool \`${definition.name}\``, contract.input_schema);
  return contract;
};

/** What the core is told of a tool. */
export const coreTool = (manifest: ToolManifest, asks: Pick<Tool, "checks" | "prepares">): Tool => {
  const { id, name, scheduling, retry_policy, policy, durable, recovery, divergence, approval_ms, hints } = manifest;
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
    ...(approval_ms === undefined ? {} : { approval_ms }),
    ...asks,
  });
};

/** Returns the manifest of a tool as the core knows it. */
export const manifestOf = (definition: ToolDefinition): Tool =>
  coreTool(wireManifestOf(definition), {
    checks: definition.parameters !== undefined,
    prepares: definition.prepare !== undefined,
  });
