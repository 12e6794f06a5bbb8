/**
 * Agents as data: a name for instructions, models, tools and limits. What is said here is put on record when a turn names the
 * agent first, and again when it has changed; a turn that runs keeps the version that it began with.
 */
import { type DefinedTool, type HostPort, type Schema, Refused, contractOf, type ToolDefinition } from "@pawl/runtime";
import type { AgentDefinition, Given, ModelPort, Said } from "@pawl/runtime/driver";
import type { Route } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { agentIn } from "./agent-tool.ts";
import { handoffOf } from "./handoff.ts";
import { type Limits, limitsOf } from "./limits.ts";
import { type AgentModel, defined, modelKey, routeOf } from "./model.ts";
import { type RunOptions, type TurnSession, AgentTurn } from "./turn.ts";

/** The form that answers are to have. One that does not fit is sent back, twice by default. */
export interface AgentOutput<S extends Schema<unknown> = Schema<unknown>> {
  /** A Standard Schema (zod, valibot, arktype), a codec of io-ts, or JSON Schema. */
  readonly schema: S;
  readonly name?: string;
  readonly description?: string;
  readonly repairs?: number;
}

export interface AgentOptions<S extends Schema<unknown> = Schema<unknown>> {
  /** Default: `main`, the agent of turns that name none. */
  readonly name?: string;
  /** The system text. */
  readonly instructions?: string;
  /** The model, or several: a later one is asked where the one before it failed for good. */
  readonly model: AgentModel | readonly AgentModel[];
  /** The tools that it may call, handoffs and sub-agents among them. Default: none. */
  readonly tools?: readonly (ToolDefinition | DefinedTool)[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly tool: string };
  readonly limits?: Limits;
  readonly output?: AgentOutput<S>;
  /** Has the history summarized when it fills so much of the model's context; the last groups stay as they are. */
  readonly compaction?: {
    readonly atPercent?: number;
    readonly keepGroups?: number;
    /** The text that asks for the summary. */
    readonly instructions?: string;
  };
  /** Ends a turn in which the model asks for the same calls so often in a row. */
  readonly loop?: { readonly repeats: number };
}

/** An agent. Its turns run in a session of a runtime that has it (`agentHost`). */
export interface Agent<O = unknown> {
  readonly name: string;
  readonly models: readonly AgentModel[];
  readonly tools: readonly ToolDefinition[];
  /** Agents that its tools hand over to. */
  readonly handoffs: readonly (string | Agent)[];
  /** Agents that its tools ask: their turns run beside its own. */
  readonly subAgents: readonly (string | Agent)[];
  /** The agent as it stands in the log. */
  readonly definition: AgentDefinition;
  /** Says something to the agent: a stream of what it answers, and an end. The same id again joins the same turn. */
  readonly turn: (session: TurnSession, said: Said, options: RunOptions) => AgentTurn<O>;
}

const invalid = (name: string, why: string): Refused => new Refused("invalid_argument", `agent \`${name}\`: ${why}`);

const outputOf = (agent: string, output: AgentOutput): NonNullable<AgentDefinition["output"]> => {
  const { schema, name, description, repairs } = output;
  const { input_schema } = contractOf({ name: `${agent}.output`, inputSchema: schema });
  return { schema: input_schema as Json, ...defined({ name, description, repairs }) } as NonNullable<
    AgentDefinition["output"]
  >;
};

const compactionOf = ({ atPercent, keepGroups, instructions }: NonNullable<AgentOptions["compaction"]>) =>
  defined({ at_percent: atPercent, keep_groups: keepGroups, system: instructions });

const nameOf = (to: string | Agent): string => (typeof to === "string" ? to : to.name);

/** Defines an agent. The type of its values is that of its `output`. */
export const defineAgent = <const S extends Schema<unknown> = Schema<unknown>>(
  options: AgentOptions<S>,
): Agent<Given<S>> => {
  const { name = "main", instructions, model, tools = [], toolChoice, limits, output, compaction, loop } = options;
  const models = Array.isArray(model) ? (model as readonly AgentModel[]) : [model as AgentModel];
  if (name.trim() === "") throw invalid(name, "its name is blank");
  if (models.length === 0) throw invalid(name, "it has no model, expected at least one");
  const twice = tools.find((tool, at) => tools.findIndex((other) => other.name === tool.name) !== at);
  if (twice !== undefined) throw invalid(name, `two of its tools are named \`${twice.name}\``);
  const handoffs = tools.flatMap((tool) => handoffOf(tool) ?? []);
  const definition = {
    routes: models.map(routeOf),
    tools: tools.map((tool) => tool.name),
    ...defined({
      system: instructions,
      handoffs: handoffs.length === 0 ? undefined : handoffs.map(nameOf),
      tool_choice: toolChoice as Json | undefined,
      limits: limits && limitsOf(limits),
      output: output && outputOf(name, output),
      compaction: compaction && compactionOf(compaction),
      loop,
    }),
  } as AgentDefinition;
  return {
    name,
    models,
    tools,
    handoffs,
    subAgents: tools.flatMap((tool) => agentIn(tool) ?? []),
    definition,
    turn: (session, said, how) => new AgentTurn<Given<S>>(session, name, said, how),
  };
};

/** Lists agents with those that they hand over to, and those that they ask. */
const reached = (agents: readonly Agent[]): readonly Agent[] => {
  const all = new Set(agents);
  for (const agent of all)
    for (const to of [...agent.handoffs, ...agent.subAgents]) if (typeof to !== "string") all.add(to);
  return [...all];
};

/** Collects things by name; two that differ under one name are refused. */
const byName = <A>(of: readonly (readonly [name: string, one: A])[], what: string): ReadonlyMap<string, A> => {
  const found = new Map<string, A>();
  for (const [name, one] of of) {
    const other = found.get(name);
    if (other !== undefined && other !== one)
      throw new Refused("invalid_argument", `two ${what} are named ${name}: give one of them another name`);
    found.set(name, one);
  }
  return found;
};

export interface AgentHostOptions {
  readonly host?: HostPort;
  /** Tools that are no agent's. */
  readonly tools?: readonly ToolDefinition[];
  /** Asks in the place of the agents' own models: `recordedModels`, say. */
  readonly models?: (route: Route) => ModelPort | undefined;
}

/** The options of a runtime that has some agents: `openRuntime({ file, ...agentHost([main]) })`. */
export const agentHost = (
  agents: readonly Agent[],
  { host = {}, tools = [], models }: AgentHostOptions = {},
): { readonly tools: readonly ToolDefinition[]; readonly host: HostPort } => {
  const all = reached(agents);
  const named = byName(
    all.map((agent) => [agent.name, agent] as const),
    "agents",
  );
  for (const { name, handoffs, subAgents } of all) {
    const missing = (to: string | Agent): boolean => !named.has(nameOf(to));
    const [gone, unasked] = [handoffs.find(missing), subAgents.find(missing)];
    if (gone !== undefined) throw invalid(name, `it hands over to \`${nameOf(gone)}\`, which is not here`);
    if (unasked !== undefined) throw invalid(name, `it asks \`${nameOf(unasked)}\`, which is not here`);
  }
  const ports = byName(
    all.flatMap((agent) => agent.models).map((model) => [modelKey(model), model.port] as const),
    "models",
  );
  const ofTools = byName(
    [...tools, ...all.flatMap((agent) => agent.tools)].map((tool) => [tool.name, tool] as const),
    "tools",
  );
  return {
    tools: [...ofTools.values()],
    host: {
      ...host,
      models: (route) => models?.(route) ?? ports.get(modelKey(route)) ?? host.models?.(route),
      agents: (name) => named.get(name)?.definition ?? host.agents?.(name),
    },
  };
};
