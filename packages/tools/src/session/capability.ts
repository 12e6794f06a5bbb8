/** Sets of tools that a session is given together: by name, or because one of its tools asks for it. */
import type { ToolDefinition } from "@pawl/runtime";

export interface Capability {
  readonly id: string;
  readonly name: string;
  readonly icon: string;
  readonly category: string;
  readonly tools: readonly ToolDefinition[];
  /** It is there without being asked for, where one of the session's tools is such. */
  readonly activatedBy?: (tool: ToolDefinition) => boolean;
}

export interface Activation {
  readonly tools: readonly ToolDefinition[];
  /** The ids of what is active, in the order in which it came. */
  readonly applied: readonly string[];
}

const withCategory = ({ tools, category }: Capability): readonly ToolDefinition[] =>
  tools.map((tool) => ({ ...tool, category: tool.category ?? category }));

/** A session's tools with those of its capabilities; what is asked for twice, or is there already, is there once. */
export const activate = (
  tools: readonly ToolDefinition[],
  known: readonly Capability[],
  asked: readonly string[],
): Activation => {
  const explicit = known.filter(({ id }) => asked.includes(id));
  const collected = [...tools, ...explicit.flatMap(withCategory)];
  const automatic = known.filter(
    (one) => !asked.includes(one.id) && one.activatedBy !== undefined && collected.some(one.activatedBy),
  );
  const all = new Map([...collected, ...automatic.flatMap(withCategory)].map((tool) => [tool.name, tool]));
  return { tools: [...all.values()], applied: [...explicit, ...automatic].map(({ id }) => id) };
};
