/**
 * `runUntilDone`: runs an agent to its end. Where the SDK interrupts the run, since a tool needs approval, a person is asked
 * by `ctx.approve`, for as long as it takes, and the run goes on with the decisions. Interruptions of agents that are tools
 * of others come up the same way.
 */
import type { Agent, AgentInputItem, RunStreamEvent, RunToolApprovalItem, Runner } from "@openai/agents";
import { type Effects, editsOf } from "./name.ts";

export interface RunOptions {
  readonly context?: unknown;
  readonly maxTurns?: number;
  readonly signal?: AbortSignal;
  /** The conversation that the run goes on with, as `DurableSession` keeps it. */
  readonly session?: Parameters<Runner["run"]>[2] extends infer O
    ? O extends { session?: infer S }
      ? S
      : never
    : never;
  /** Streams the answers, and is told each event. It may show them, and must not act on them. */
  readonly onEvent?: (event: RunStreamEvent) => void;
}

interface Ran {
  readonly interruptions: readonly RunToolApprovalItem[];
  readonly finalOutput: unknown;
  readonly state: {
    approve(item: RunToolApprovalItem): void;
    reject(item: RunToolApprovalItem, options?: { readonly message?: string }): void;
  };
}

/** Loosely typed where the SDK's types turn on whether a run streams. */
type Run = (agent: Agent<never, never>, input: unknown, options: object) => Promise<unknown>;

const runOnce = async (
  runner: Runner,
  agent: unknown,
  input: unknown,
  { onEvent, ...options }: RunOptions,
): Promise<Ran> => {
  const run = runner.run.bind(runner) as unknown as Run;
  if (onEvent === undefined) return (await run(agent as never, input, options)) as Ran;
  const result = (await run(agent as never, input, { ...options, stream: true })) as Ran &
    AsyncIterable<RunStreamEvent> & { readonly completed: Promise<void> };
  for await (const event of result) onEvent(event);
  await result.completed;
  return result;
};

const argsOf = ({ arguments: text = "{}" }: RunToolApprovalItem): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

const idOf = ({ rawItem }: RunToolApprovalItem): string =>
  "callId" in rawItem ? rawItem.callId : ((rawItem as { readonly id?: string }).id ?? "");

/** Lets a call run with other arguments. The SDK has no word for that, so the tool itself is told (`durableTools`). */
const edit = (ctx: object, item: RunToolApprovalItem, args: unknown): void => {
  const { args: edited, tools } = editsOf(ctx);
  if (!tools.has(item.name ?? ""))
    throw new TypeError(
      `the arguments of ${item.name ?? "a tool"} were edited, which it cannot be told: hand it to the agent by \`durableTools\``,
    );
  edited.set(idOf(item), JSON.stringify(args));
};

/** An agent, whatever its context and its output are. */
export type AnyAgent = Pick<Agent, "name"> & { readonly handoffs: unknown };

/** Runs an agent in a durable body, until it has its final output. */
export const runUntilDone = async <Output = string>(
  ctx: Pick<Effects, "approve">,
  runner: Runner,
  agent: AnyAgent,
  input: string | AgentInputItem[],
  options: RunOptions = {},
): Promise<Output | undefined> => {
  let result = await runOnce(runner, agent, input, options);
  while (result.interruptions.length > 0) {
    const { state } = result;
    const decide = async (item: RunToolApprovalItem): Promise<() => void> => {
      const args = argsOf(item);
      const decided = await ctx.approve({ title: `${item.name ?? "tool"} (${idOf(item)})`, args });
      return () => {
        if (!decided.approved) return state.reject(item, { message: decided.reason });
        if (JSON.stringify(decided.args) !== JSON.stringify(args)) edit(ctx, item, decided.args);
        state.approve(item);
      };
    };
    for (const settle of await Promise.all(result.interruptions.map(decide))) settle();
    result = await runOnce(runner, agent, state, options);
  }
  return result.finalOutput as Output | undefined;
};
