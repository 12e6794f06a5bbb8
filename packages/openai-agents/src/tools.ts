/**
 * `durableTools`: the tools of an agent, done once each. A tool of the SDK is one step, named by the model's id of the call,
 * which is the same in every run and serves as idempotency key. A tool of pawl is called: with its own steps, waits, approvals
 * and recovery.
 */
import type { FunctionTool, Tool } from "@openai/agents";
import { type DefinedTool, contractOf } from "@pawl/runtime";
import { formatToolOutput, encode } from "@pawl/tool-value";
import { type Effects, editsOf, here, numbered } from "./name.ts";

type Calls = Pick<Effects, "run" | "callAll">;
type AnyFunctionTool = FunctionTool<unknown, never, unknown>;

/** A tool of the SDK, or one of pawl. */
export type AnyTool<Context = unknown> = Tool<Context> | DefinedTool;

const isOfPawl = (tool: object): tool is DefinedTool => !("type" in tool);

const ofSdk = (ctx: Calls, tool: AnyFunctionTool): AnyFunctionTool => ({
  ...tool,
  invoke: (runContext, input, details) => {
    const id = details?.toolCall?.callId ?? "";
    const left = editsOf(ctx).args.get(id) ?? input;
    const inTrace = here();
    const work = (): Promise<unknown> => inTrace(() => tool.invoke(runContext, left, details));
    return ctx.run(numbered(ctx, `${tool.name} ${id}`.trim()), work, { input: left });
  },
  needsApproval: (runContext, input, callId) =>
    ctx.run(numbered(ctx, `${tool.name} ${callId ?? ""} needs approval`), async () =>
      tool.needsApproval(runContext, input, callId),
    ),
});

/** Arguments as a tool of pawl takes them. What is no JSON it is told as it is, so that the model reads what was wrong. */
const argsOf = (input: string): unknown => {
  try {
    return input.trim() === "" ? {} : (JSON.parse(input) as unknown);
  } catch {
    return input;
  }
};

const ofPawl = (ctx: Calls, tool: DefinedTool): FunctionTool => ({
  type: "function",
  name: tool.name,
  description: tool.description ?? "",
  parameters: contractOf(tool).input_schema as FunctionTool["parameters"],
  strict: false,
  needsApproval: async () => false, // Its approvals are its own.
  isEnabled: async () => true,
  invoke: async (_, input, details) => {
    const label = numbered(ctx, details?.toolCall?.callId ?? tool.name);
    const [reply] = await ctx.callAll([{ label, tool, args: argsOf(input) }]);
    if (reply === undefined) throw new TypeError("a batch of one call has one reply");
    const { outcome } = reply.output;
    if (outcome.status !== "success") return formatToolOutput(reply.output);
    const value = encode(outcome.payload);
    return typeof value === "string" ? value : JSON.stringify(value);
  },
});

/**
 * Returns tools for an agent that runs in a durable body. Tools that the service runs itself are handed back as they are. So
 * should tools that are agents be: their models are durable by the runner's provider, and their own tools by this.
 */
export const durableTools = <Context = unknown>(ctx: Calls, tools: readonly AnyTool<Context>[]): Tool<Context>[] =>
  tools.map((tool) => {
    if (isOfPawl(tool)) return ofPawl(ctx, tool) as unknown as Tool<Context>;
    if (tool.type !== "function") return tool;
    editsOf(ctx).tools.add(tool.name);
    return ofSdk(ctx, tool as unknown as AnyFunctionTool) as unknown as Tool<Context>;
  });
