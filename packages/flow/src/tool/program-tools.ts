/** An adapter from the tools of a registry to tools of a session: the steps of a flow run like any other call. */
import type { FlowTool } from "@pawl/sansio-core/driver";
import { type ToolDefinition, defineTool, manifestOf } from "@pawl/runtime";
import { type Json, type JsonObject, done } from "@pawl/tool-value";
import { type Providers, type Run, runOf } from "./provider.ts";
import type { Registered, Registry } from "./registry.ts";
import { outputOf } from "./result.ts";

export interface ProgramTools {
  /** The definitions for the session's catalog. */
  readonly definitions: readonly ToolDefinition[];
  /** The tools for the flow's submission, under the names that its nodes use. */
  readonly tools: readonly FlowTool[];
}

export interface ProgramToolsOptions {
  readonly registry: Registry;
  readonly providers: Providers;
  /** The prefix of the names in the catalog: it keeps programs apart that share a session. */
  readonly prefix?: string;
  readonly now?: () => number;
}

/** Effects that change nothing outside: their tools may be run again. */
const readonlyEffects: ReadonlySet<string> = new Set(["compute", "read", "pure"]);
const isReadonly = ({ effect_row }: Registered): boolean =>
  effect_row.length > 0 && effect_row.every((effect) => readonlyEffects.has(effect));

const types: ReadonlyMap<string, JsonObject> = new Map([
  ["String", { type: "string" }],
  ["Int", { type: "integer" }],
  ["Float", { type: "number" }],
  ["Bool", { type: "boolean" }],
]);

/** Returns the schema of a type of a flow; of one that JSON Schema has no word for, a schema that takes anything. */
const schemaOf = (type: string): JsonObject => {
  const item = /^List(?:<(?<item>.+)>)?$/.exec(type);
  if (item === null) return types.get(type) ?? {};
  const { item: of } = item.groups ?? {};
  return of === undefined ? { type: "array" } : { type: "array", items: schemaOf(of) };
};

/** Returns what models are told of the arguments, where the program declares parameters. Flows read arguments themselves. */
const toldOf = ({ parameters }: Registered): Pick<ToolDefinition, "manifest"> => {
  if (parameters.length === 0) return {};
  const properties = Object.fromEntries(parameters.map(([name, type]) => [name, schemaOf(type)]));
  return { manifest: { input_schema: { type: "object", properties, required: parameters.map(([name]) => name) } } };
};

const descriptionOf = ({ name, provider, effect_row: effects, output_schema: output }: Registered): string => {
  const does = effects.length === 0 ? "" : `, which may ${effects.join(", ")}`;
  return `${name}, a tool of a flow (${provider})${does}${output === "" ? "" : `. Its result is ${output}`}.`;
};

/** Defines every tool whose provider is given; the others stay placeholders. */
export const programTools = ({
  registry,
  providers,
  prefix = "flow",
  now = Date.now,
}: ProgramToolsOptions): ProgramTools => {
  const define = (entry: Registered, run: Run): ToolDefinition =>
    defineTool<Json>({
      name: `${prefix}.${entry.name}`,
      description: descriptionOf(entry),
      ...toldOf(entry),
      readOnly: isReadonly(entry),
      idempotent: false,
      execute: async (args, { signal }) => done(await outputOf(entry, run, args, { nowMs: now(), signal })),
    });
  const known = [...registry.names].flatMap((name) => {
    const entry = registry.at(name);
    const runs = runOf(registry, providers, name);
    return entry === undefined || runs === undefined ? [] : [{ entry, definition: define(entry, runs) }];
  });
  return {
    definitions: known.map(({ definition }) => definition),
    tools: known.map(({ entry, definition }) => ({
      name: entry.name,
      id: manifestOf(definition).id,
      parameters: entry.parameters,
    })),
  };
};
