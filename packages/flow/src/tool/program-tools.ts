/** The tools of a registry as tools of a session: what a flow's steps call runs like any other tool. */
import type { FlowTool } from "@pawl/sansio-core";
import { type ToolDefinition, defineTool, manifestOf } from "@pawl/runtime";
import { type Json, done } from "@pawl/tool-value";
import { type Providers, type Run, runOf } from "./provider.ts";
import type { Registered, Registry } from "./registry.ts";
import { outputOf } from "./run.ts";

/** Tools of a program, ready for a session and for the flows that may call them. */
export interface ProgramTools {
  /** For the session's catalog. */
  readonly definitions: readonly ToolDefinition[];
  /** For the flow's submission: by the names that its nodes give. */
  readonly tools: readonly FlowTool[];
}

export interface ProgramToolsOptions {
  readonly registry: Registry;
  readonly providers: Providers;
  /** In front of the names in the catalog, where programs with tools of one name share a session. */
  readonly prefix?: string;
  readonly now?: () => number;
}

/** What changes nothing outside may be run again. */
const harmless: ReadonlySet<string> = new Set(["compute", "read", "pure"]);
const isReadonly = ({ effect_row }: Registered): boolean =>
  effect_row.length > 0 && effect_row.every((effect) => harmless.has(effect));

/** Tools whose provider somebody has; the others stay placeholders. */
export const programTools = ({
  registry,
  providers,
  prefix = "flow",
  now = Date.now,
}: ProgramToolsOptions): ProgramTools => {
  const define = (entry: Registered, run: Run): ToolDefinition =>
    defineTool<Json>({
      name: `${prefix}.${entry.name}`,
      hints: { readonly: isReadonly(entry), idempotent: false },
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
