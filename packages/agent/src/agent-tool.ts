/** An agent as a tool of another: it works on a task of its own, with a history of its own, and its end is the call's. */
import { type DefinedTool, type Schema, type ToolDefinition, defineTool } from "@pawl/runtime";
import type { Given, Said } from "@pawl/runtime/driver";
import { outputOfAwait } from "@pawl/sansio-core/driver";
import { type Json, done } from "@pawl/tool-value";
import type { Agent } from "./agent.ts";
import { defaultTexts } from "./handoff.ts";
import { type Limits, limitsOf } from "./limits.ts";

const task = {
  type: "object",
  properties: { task: { type: "string", description: defaultTexts.agentTask } },
  required: ["task"],
} as const;

export interface AgentToolOptions<S extends Schema<unknown> = typeof task, O = unknown> {
  /** The agent, or its name where it is defined later. */
  readonly agent: string | Agent<O>;
  /** Default: the agent's name. */
  readonly name?: string;
  readonly description?: string;
  /** The arguments of the tool. Default: a `task`. */
  readonly parameters?: S;
  /** The words that the agent is told. Default: the task. Called again after a crash, it has to return the same. */
  readonly prompt?: (args: Given<S>) => Said;
  /** Limits of the agent's turn. What its caller has left bounds it as well, shared out among calls that begin together. */
  readonly limits?: Limits;
}

/** The value of an agent: of the form that its `output` wants, and without one its text. */
type ValueOf<O> = unknown extends O ? string : O;

const agents = new WeakMap<object, string | Agent>();

/** Returns the agent that a tool asks; undefined for any other tool. */
export const agentIn = (tool: object): string | Agent | undefined => agents.get(tool);

const taskOf = (args: unknown): string => (args as { readonly task: string }).task;

const messagesOf = (said: Said): Json =>
  (typeof said === "string" ? [{ role: "user", content: said }] : said) as unknown as Json;

/**
 * Makes the tool by which an agent asks another one. That runs as a process beside the turn, in the same journal: it survives
 * what the turn survives, and is never begun twice. A cancel of the call ends it.
 */
export const agentTool = <const S extends Schema<unknown> = typeof task, O = unknown>(
  options: AgentToolOptions<S, O>,
): DefinedTool<Given<S>, ValueOf<O>> => {
  const { agent, limits, prompt = taskOf } = options;
  const of = typeof agent === "string" ? agent : agent.name;
  const { name = of, description = defaultTexts.agent(of), parameters = task } = options;
  const create_request = { agent: of, ...(limits === undefined ? {} : { limits: limitsOf(limits) as Json }) };
  const definition: ToolDefinition = {
    name,
    description,
    durable: true,
    inputSchema: parameters,
    execute: async (args, ctx) => {
      const id = ctx.subAgentId;
      const turn_input = { messages: messagesOf(prompt(args as Given<S>)) };
      const input = { type: "session_turn", create_request, turn_input, output_contract: null } as const;
      const ended = async () => {
        await ctx.processes.start({ id, input, identity: { kind: "session_turn", label: of } });
        return ctx.processes.await(id, { signal: ctx.signal });
      };
      const end = ended();
      ctx.onCancel(() => end);
      return done(outputOfAwait(await end));
    },
  };
  const tool = defineTool(definition);
  agents.set(tool, agent);
  return tool as DefinedTool<Given<S>, ValueOf<O>>;
};
