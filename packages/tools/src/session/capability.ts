/** Capabilities: sets of tools that a session gets together, by name or because one of its tools needs them. */
import type { ToolDefinition } from "@pawl/runtime";

export interface Capability {
  readonly id: string;
  readonly name: string;
  readonly icon: string;
  readonly category: string;
  readonly tools: readonly ToolDefinition[];
  /** Activates the capability if it returns true for one of the session's tools. */
  readonly activatedBy?: (tool: ToolDefinition) => boolean;
}

export interface Activation {
  readonly tools: readonly ToolDefinition[];
  /** The ids of the active capabilities, in the order of activation. */
  readonly applied: readonly string[];
}

const withCategory = ({ tools, category }: Capability): readonly ToolDefinition[] =>
  tools.map((tool) => ({ ...tool, manifest: { category, ...tool.manifest } }));

/** Adds the tools of capabilities to a session's own. A capability counts once, and so does a tool name. */
export const activate = (
  tools: readonly ToolDefinition[],
  known: readonly Capability[],
  requested: readonly string[],
): Activation => {
  const explicit = known.filter(({ id }) => requested.includes(id));
  const collected = [...tools, ...explicit.flatMap(withCategory)];
  const automatic = known.filter(
    (one) => !requested.includes(one.id) && one.activatedBy !== undefined && collected.some(one.activatedBy),
  );
  const all = new Map([...collected, ...automatic.flatMap(withCategory)].map((tool) => [tool.name, tool]));
  return { tools: [...all.values()], applied: [...explicit, ...automatic].map(({ id }) => id) };
};
