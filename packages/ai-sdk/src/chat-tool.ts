/**
 * `chatTool`: a turn of a chat as a durable tool. Its arguments are the messages of the page, its result is the message that
 * answers them, and what it says on the way is shown to pages (`show.ts`).
 *
 *   part 1   the loop of the SDK, until it ends, or wants an approval           stream `page 1`
 *            a person is asked, for as long as it takes                          ctx.approve
 *   part 2   the loop goes on with the decisions, as messages of the SDK        stream `page 2`
 *
 * So a turn that waits for a person holds no connection, and may leave memory.
 */
import { type DefinedTool, type ToolContext, defineTool } from "@pawl/runtime";
import {
  type Agent,
  type LanguageModel,
  type ToolSet,
  type UIMessage,
  convertToModelMessages,
  isToolUIPart,
  getToolName,
  stepCountIs,
  streamText,
} from "ai";
import type { Part } from "./answer.ts";
import { durableModel } from "./model.ts";
import { approvalIdOn, pageOf, titleOf } from "./page.ts";
import type { Retrying } from "./retry.ts";
import { show } from "./show.ts";
import { durableTelemetry } from "./telemetry.ts";
import { type DurableToolsOptions, type Tools, toolsOfChat } from "./tools.ts";

type ObjectModel = Exclude<LanguageModel, string>;
type AnyAgent = Pick<Agent<never, ToolSet>, "stream">;

/** The parts that an agent is made of, for a turn. */
export interface AgentParts {
  readonly model: ObjectModel;
  readonly tools: ToolSet;
  /** Telemetry that is not told again of what is on record. */
  readonly telemetry: object;
  readonly ctx: ToolContext;
}

export interface ChatOptions extends DurableToolsOptions {
  readonly name: string;
  readonly description?: string;
  readonly model: ObjectModel;
  readonly instructions?: string;
  readonly tools?: Tools;
  /** Makes the agent of the SDK that answers, of the model and the tools as they are here: durable. */
  readonly agent?: (parts: AgentParts) => AnyAgent;
  /** Answers of the model in one part of a turn. Default: 20. An agent has its own. */
  readonly maxSteps?: number;
  readonly retry?: Retrying;
  /** The `telemetry` of the SDK's calls. Default: the integrations that are registered. */
  readonly telemetry?: object;
  /** Tells the page of an error. By default it reads no details. */
  readonly onError?: (error: unknown) => string;
}

/** The arguments of a turn. */
export interface ChatTurn {
  readonly messages: readonly UIMessage[];
}

type ToolPart = Extract<UIMessage["parts"][number], { readonly toolCallId: string }>;

const isAsked = (part: UIMessage["parts"][number]): part is ToolPart =>
  isToolUIPart(part) && part.state === "approval-requested";

const say = async ({ agent, instructions, maxSteps = 20 }: ChatOptions, parts: AgentParts, messages: UIMessage[]) => {
  const { ctx, model, tools, telemetry } = parts;
  const prompt = await convertToModelMessages(messages, { tools, ignoreIncompleteToolCalls: true });
  if (agent !== undefined) return agent(parts).stream({ messages: prompt, abortSignal: ctx.signal });
  return streamText({
    model,
    tools,
    telemetry,
    messages: prompt,
    abortSignal: ctx.signal,
    stopWhen: stepCountIs(maxSteps),
    maxRetries: 0, // The model asks again by itself, within its step.
    onError: () => undefined, // The page is told, and so is the turn.
    _internal: { generateId: () => ctx.uuid("part") },
    ...(instructions === undefined ? {} : { instructions }),
  });
};

interface Answered {
  readonly message: UIMessage;
  readonly failed: { readonly error: unknown } | undefined;
}

const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** A turn, as far as it has come. */
class Turn {
  readonly #options: ChatOptions;
  readonly #parts: AgentParts;
  readonly #messages: UIMessage[];
  /** The ids of approvals on pages, by those of the SDK. */
  readonly #approvalIds = new Map<string, string>();
  #part = 0;
  #edits: readonly Part[] = [];

  constructor(options: ChatOptions, { messages }: ChatTurn, ctx: ToolContext) {
    const { model, tools = {}, retry = {}, bytes, telemetry } = options;
    this.#options = options;
    this.#messages = [...messages];
    this.#parts = {
      ctx,
      telemetry: durableTelemetry(ctx, telemetry),
      model: durableModel(ctx, model, retry),
      tools: toolsOfChat(ctx, tools, bytes === undefined ? {} : { bytes }),
    };
  }

  async run(): Promise<UIMessage> {
    for (;;) {
      const { message, failed } = await this.#answer();
      if (failed !== undefined) throw failed.error;
      const asked = message.parts.filter(isAsked);
      if (asked.length === 0) return this.#asOnPages(message);
      await this.#decided(message, asked);
    }
  }

  /** One part of the turn: shows what the SDK says, and returns the message as it is then. */
  async #answer(): Promise<Answered> {
    this.#part += 1;
    const { ctx } = this.#parts;
    const result = await say(this.#options, this.#parts, this.#messages);
    const { onError = () => "An error occurred." } = this.#options;
    let message: UIMessage | undefined;
    const errors: unknown[] = [];
    const chunks = result.toUIMessageStream<UIMessage>({
      originalMessages: this.#messages,
      generateMessageId: () => ctx.uuid("message"),
      onError: (error) => {
        errors.push(error);
        return onError(error);
      },
      onFinish: ({ responseMessage }) => void (message = responseMessage),
    });
    let failed: Answered["failed"];
    const noted = (text: unknown): void => {
      failed ??= { error: errors.findLast((error) => textOf(error) !== text) ?? new Error(String(text)) };
    };
    await show(ctx, pageOf(this.#part), this.#shown(chunks, noted));
    if (message === undefined) throw new TypeError("the SDK has ended its stream without a message");
    return { message, failed };
  }

  /** Tells pages which arguments a person has edited, before what came of them; and which part asks a person. */
  async *#shown(chunks: AsyncIterable<unknown>, failed: (text: unknown) => void): AsyncGenerator<unknown> {
    for await (const said of chunks) {
      const chunk = said as Part;
      if (chunk.type === "error") failed(chunk["errorText"]); // A tool that throws fails no turn: the model is told.
      const id = chunk["approvalId"];
      if (typeof id === "string") yield { ...chunk, approvalId: this.#approvalIdOf(id) };
      else yield chunk;
      if (chunk.type === "start") for (const edit of this.#edits) yield edit;
    }
  }

  #approvalIdOf(id: string): string {
    const known = this.#approvalIds.get(id) ?? approvalIdOn(this.#part, id);
    this.#approvalIds.set(id, known);
    return known;
  }

  #asOnPages(message: UIMessage): UIMessage {
    const parts = message.parts.map((part) => {
      if (!isToolUIPart(part) || part.approval === undefined) return part;
      return { ...part, approval: { ...part.approval, id: this.#approvalIdOf(part.approval.id) } } as typeof part;
    });
    return { ...message, parts };
  }

  /** Asks a person about all calls at once, and goes on with the message as the decisions left it. */
  async #decided(message: UIMessage, asked: readonly ToolPart[]): Promise<void> {
    const all = await Promise.all(asked.map((one) => decide(this.#parts.ctx, one)));
    this.#edits = all.flatMap((after, i) => (isEdited(asked[i] as ToolPart, after) ? [editOf(after)] : []));
    const after = new Map(all.map((one) => [one.toolCallId, one]));
    const parts = message.parts.map((part) => (isAsked(part) ? (after.get(part.toolCallId) ?? part) : part));
    if (this.#messages.at(-1)?.role === "assistant") this.#messages.pop();
    this.#messages.push({ ...message, parts });
  }
}

const decide = async (ctx: ToolContext, part: ToolPart): Promise<ToolPart> => {
  const { toolCallId, input } = part;
  const decided = await ctx.approve({ title: titleOf(getToolName(part), toolCallId), args: input });
  const { approved, reason } = decided;
  const approval = { ...part.approval, approved, ...(reason === undefined ? {} : { reason }) };
  return { ...part, state: "approval-responded", approval, ...(approved ? { input: decided.args } : {}) } as ToolPart;
};

const isEdited = (before: ToolPart, after: ToolPart): boolean =>
  JSON.stringify(before.input) !== JSON.stringify(after.input);

const editOf = (part: ToolPart): Part => ({
  type: "tool-input-available",
  toolCallId: part.toolCallId,
  toolName: getToolName(part),
  input: part.input,
  ...(part.type === "dynamic-tool" ? { dynamic: true } : {}),
});

/** Defines a durable tool that answers the messages of a page. Serve it by `chatHandlers`. */
export const chatTool = (options: ChatOptions): DefinedTool<ChatTurn, UIMessage> =>
  defineTool<ChatTurn, undefined, Promise<UIMessage>>({
    name: options.name,
    durable: true,
    ...(options.description === undefined ? {} : { description: options.description }),
    execute: (turn, ctx) => new Turn(options, turn, ctx).run(),
  }) as DefinedTool<ChatTurn, UIMessage>;
