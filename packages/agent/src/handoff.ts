/** Handoffs: a tool by which an agent gives the conversation to another one, which goes on in the same turn. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { ok, withControl } from "@pawl/tool-value";
import type { Agent } from "./agent.ts";

/** Texts that models read, where a program gives none of its own. */
export const defaultTexts = {
  handoff: (agent: string): string => `Hands the conversation over to the agent ${agent}, who goes on with it.`,
  handoffTask: "What the other agent is to do, in a sentence or two.",
  agent: (agent: string): string => `Gives a task to the agent ${agent}, who works on it alone and returns the result.`,
  agentTask: "What the agent is to do, with all that it has to know: it does not see this conversation.",
  handedOver: (agent: string): string => `${agent} has the conversation now.`,
};

export interface HandoffOptions {
  /** The agent, or its name where the two hand over to each other. */
  readonly to: string | Agent;
  /** Default: `handoff_to_{name}`. */
  readonly name?: string;
  readonly description?: string;
  /** The other agent is shown the conversation until then (default), or its task alone. */
  readonly history?: boolean;
}

const handoffs = new WeakMap<object, string | Agent>();

/** Returns the agent that a tool hands over to; undefined for any other tool. */
export const handoffOf = (tool: object): string | Agent | undefined => handoffs.get(tool);

/** Makes the tool of a handoff. The other agent has a frame of its own, and finds it as it left it when it comes back. */
export const handoff = ({ to, name, description, history = true }: HandoffOptions): ToolDefinition => {
  const other = typeof to === "string" ? to : to.name;
  const nodes = [{ type: "agent", name: other }, ...(history ? [{ type: "history", mode: "all" }] : [])];
  const tool = defineTool({
    name: name ?? `handoff_to_${other}`,
    description: description ?? defaultTexts.handoff(other),
    readOnly: true,
    inputSchema: {
      type: "object",
      properties: { task: { type: "string", description: defaultTexts.handoffTask } },
      required: ["task"],
    },
    execute: ({ task }) =>
      withControl(ok(defaultTexts.handedOver(other)), {
        type: "switch_agent_frame",
        frame_id: other,
        initial_nodes: nodes,
        task,
      }),
  });
  handoffs.set(tool, to);
  return tool;
};
