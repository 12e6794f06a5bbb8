/**
 * `durableTools`: the tools of an SDK's loop, done once each. Two kinds may stand side by side:
 *
 *   a tool of the SDK   its `execute` is one step, named by the tool and by the model's id of the call. That id is the same in
 *                       every run, so it serves as idempotency key.
 *   a tool of pawl      is called: with its own steps, waits, approvals and recovery. The model's id is the label of the call.
 *
 * Where a tool of the SDK `needsApproval`, a person is asked by `ctx.approve`, for as long as it takes. The model is told of a
 * denial as the SDK tells it, and the tool runs with the arguments as the person left them.
 */
import { type DefinedTool, type Reply, type ToolContext, contractOf } from "@pawl/runtime";
import { isRepeating } from "@pawl/runtime/driver";
import { type ToolCallOutput, encode, formatToolOutput, mimeOf, modelPartsFromOutput } from "@pawl/tool-value";
import { type Tool, type ToolSet, jsonSchema } from "ai";
import { titleOf } from "./page.ts";
import { told } from "./telemetry.ts";

type Effects = Pick<ToolContext, "run" | "callAll" | "approve" | "signal">;

/** Tools by the names that the model calls them by. */
export type Tools = Readonly<Record<string, Tool | DefinedTool>>;

export interface DurableToolsOptions {
  /** Reads the bytes of an attachment that a tool of pawl returned, for the model to see: `diskAttachments(folder).bytes`. */
  readonly bytes?: (id: string) => Promise<Uint8Array | undefined>;
}

interface CallOptions {
  readonly toolCallId: string;
  readonly messages: unknown;
  readonly abortSignal?: AbortSignal;
  readonly [field: string]: unknown;
}
type Execute = (input: unknown, options: CallOptions) => unknown;
type NeedsApproval = boolean | ((input: unknown, options: CallOptions) => boolean | PromiseLike<boolean>) | undefined;

/** The result of a call that a person has denied. */
export interface Denied {
  readonly type: "execution-denied";
  readonly reason?: string;
}
const isDenied = (output: unknown): output is Denied =>
  typeof output === "object" && output !== null && "type" in output && output.type === "execution-denied";

const isOfPawl = (tool: Tool | DefinedTool): tool is DefinedTool =>
  "name" in tool && typeof tool.name === "string" && !("type" in tool);

/** Names the steps of calls. A model's ids are sometimes blank, or used twice. */
class CallNames {
  readonly #counts = new Map<string, number>();

  next(tool: string, id: string): string {
    const name = `${tool} ${id}`.trim();
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count === 1 ? name : `${name}#${count}`;
  }
}

/** One for each body: tools may be wrapped where they are used, more than once. */
const names = new WeakMap<Effects, CallNames>();
const namesOf = (ctx: Effects): CallNames => {
  const found = names.get(ctx) ?? new CallNames();
  names.set(ctx, found);
  return found;
};

const isIterable = (u: unknown): u is AsyncIterable<unknown> =>
  typeof u === "object" && u !== null && Symbol.asyncIterator in u;

/** Waits for the result of a tool: of one that yields, the last that it yields. */
const resultOf = async (returned: unknown): Promise<unknown> => {
  if (!isIterable(returned)) return returned;
  let last: unknown;
  for await (const yielded of returned) last = yielded;
  return last;
};

const stepOf = (ctx: Effects, name: string, execute: Execute, input: unknown, options: CallOptions): Promise<unknown> =>
  told((live) =>
    ctx.run(
      name,
      ({ signal }) => {
        const { abortSignal } = options;
        const both = abortSignal === undefined ? signal : AbortSignal.any([signal, abortSignal]);
        return live(() => resultOf(execute(input, { ...options, abortSignal: both })));
      },
      { input },
    ),
  );

/** Asks on record whether a call needs approval: the answer of a function may be another in a later run. */
const isWanted = async (ctx: Effects, name: string, needs: NeedsApproval, input: unknown, options: CallOptions) =>
  typeof needs === "function"
    ? ctx.run(`${name} needs approval`, async () => needs(input, options), { input })
    : needs === true;

interface Wrapped {
  readonly execute?: Execute;
  readonly needsApproval?: NeedsApproval;
  readonly toModelOutput?: (said: { readonly output: unknown }) => unknown;
}

const ofSdk = (ctx: Effects, toolName: string, tool: Tool): Tool => {
  const { execute, needsApproval, toModelOutput, ...rest } = tool as unknown as Wrapped & object;
  if (execute === undefined) return tool;
  const durable: Wrapped = {
    execute: async (input, options) => {
      const name = namesOf(ctx).next(toolName, options.toolCallId);
      if (!(await isWanted(ctx, name, needsApproval, input, options)))
        return stepOf(ctx, name, execute, input, options);
      const decided = await ctx.approve({ title: titleOf(toolName, options.toolCallId), args: input });
      if (decided.approved) return stepOf(ctx, name, execute, decided.args, options);
      return { type: "execution-denied", reason: decided.reason } satisfies Denied;
    },
    toModelOutput: (said) => (isDenied(said.output) ? said.output : (toModelOutput ?? plainOutput)(said)),
  };
  return { ...rest, ...durable } as unknown as Tool;
};

const plainOutput = ({ output }: { readonly output: unknown }): unknown =>
  typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output ?? null };

const base64Of = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
};

/** Returns what a model reads of an output: text, and bytes at their place in it. */
const contentOf = async (output: ToolCallOutput, bytes: NonNullable<DurableToolsOptions["bytes"]>) => {
  const parts = modelPartsFromOutput(output).map(async (part) => {
    if (part.type === "text") return part;
    const data = base64Of((await bytes(part.id)) ?? new Uint8Array());
    return { type: "file", mediaType: mimeOf(part.media_type), data: { type: "data", data } };
  });
  return { type: "content", value: await Promise.all(parts) };
};

const ofPawl = (ctx: Effects, tool: DefinedTool, { bytes }: DurableToolsOptions): Tool => {
  const outputs = new WeakMap<object, ToolCallOutput>();
  const execute: Execute = async (args, { toolCallId }) => {
    const label = namesOf(ctx).next("", toolCallId);
    const called = (): Promise<readonly Reply[]> => ctx.callAll([{ label, tool, args }]);
    const [reply] = await told((live) => (isRepeating(ctx) ? called() : live(called)));
    if (reply === undefined) throw new TypeError("a batch of one call has one reply");
    const { outcome } = reply.output;
    if (outcome.status === "success") {
      const value = encode(outcome.payload);
      if (typeof value === "object" && value !== null) outputs.set(value, reply.output);
      return value;
    }
    if (outcome.status === "failure" && outcome.payload.code === "approval_rejected")
      return { type: "execution-denied", reason: outcome.payload.message } satisfies Denied;
    throw new Error(formatToolOutput(reply.output)); // The SDK tells the model that the tool has failed, by this text.
  };
  const toModelOutput = ({ output }: { readonly output: unknown }): unknown => {
    if (isDenied(output)) return output;
    const known = typeof output === "object" && output !== null ? outputs.get(output) : undefined;
    return known === undefined || bytes === undefined ? plainOutput({ output }) : contentOf(known, bytes);
  };
  const inputSchema = jsonSchema(contractOf(tool).input_schema as Parameters<typeof jsonSchema>[0]);
  return {
    description: tool.description ?? "",
    title: tool.title,
    inputSchema,
    execute,
    toModelOutput,
  } as unknown as Tool;
};

/** Returns the `tools` for `generateText`, `streamText` and agents, in a durable body. */
export const durableTools = (ctx: Effects, tools: Tools, options: DurableToolsOptions = {}): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      isOfPawl(tool) ? ofPawl(ctx, tool, options) : ofSdk(ctx, name, tool),
    ]),
  );

/** Leaves approvals to the loop of the SDK, which ends where one is wanted; whether it is, is on record. */
export const toolsOfChat = (ctx: Effects, tools: Tools, options: DurableToolsOptions): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      if (isOfPawl(tool)) return [name, ofPawl(ctx, tool, options)];
      const { needsApproval: needs, ...rest } = tool as unknown as Wrapped & object;
      const durable = ofSdk(ctx, name, rest as unknown as Tool);
      if (needs === undefined) return [name, durable];
      const needsApproval = (input: unknown, asked: CallOptions): Promise<boolean> =>
        isWanted(ctx, namesOf(ctx).next(name, `${asked.toolCallId} asked`), needs, input, asked);
      return [name, { ...durable, needsApproval } as unknown as Tool];
    }),
  );
