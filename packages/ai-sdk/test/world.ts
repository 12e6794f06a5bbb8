/** A chat in one process: a model that follows a script, its server, and pages of the SDK. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import type { ToolDefinition } from "@pawl/runtime";
import { WorkflowChatTransport } from "@ai-sdk/workflow/client";
import {
  type ChatTransport,
  DefaultChatTransport,
  type LanguageModel,
  type UIMessage,
  lastAssistantMessageIsCompleteWithApprovalResponses,
} from "ai";
import { onTestFinished } from "vitest";
import { Chat } from "./page.ts";
import { type ChatHost, type ChatOptions, chatHandlers, chatTool } from "../src/index.ts";

type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;
type Params = Parameters<Model["doStream"]>[0];
type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;
type Content = Awaited<ReturnType<Model["doGenerate"]>>["content"][number];

/** What the model says: words, one by one, and calls of tools. */
export interface Saying {
  readonly words?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: object }[];
  /** Says the next word when this resolves. */
  readonly pace?: (word: number) => Promise<void> | void;
  readonly breaks?: Error;
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 },
};

const finishOf = ({ calls = [] }: Saying) => {
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  return { finishReason: { unified, raw: unified } as const, usage };
};
const callsOf = ({ calls = [] }: Saying): (Content & { readonly type: "tool-call" })[] =>
  calls.map(({ id, name, input }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: JSON.stringify(input),
  }));

async function* partsOf(saying: Saying): AsyncGenerator<Part> {
  const { words = [], pace } = saying;
  yield { type: "stream-start", warnings: [] };
  if (words.length > 0) yield { type: "text-start", id: "0" };
  for (const [i, delta] of words.entries()) {
    await pace?.(i);
    yield { type: "text-delta", id: "0", delta };
  }
  if (saying.breaks !== undefined) throw saying.breaks;
  if (words.length > 0) yield { type: "text-end", id: "0" };
  yield* callsOf(saying);
  yield { type: "finish", ...finishOf(saying) };
}

export type Script = (params: Params, asked: number) => Saying | Promise<Saying>;

/** A model that counts what it is asked, and answers by a script. */
export class ScriptedModel implements Model {
  readonly specificationVersion = "v4";
  readonly provider = "script";
  readonly modelId = "m1";
  readonly supportedUrls = {};
  readonly prompts: Params["prompt"][] = [];
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  get asked(): number {
    return this.prompts.length;
  }

  async doGenerate(params: Params) {
    this.prompts.push(params.prompt);
    const saying = await this.#script(params, this.prompts.length);
    if (saying.breaks !== undefined) throw saying.breaks;
    const text: Content[] = saying.words === undefined ? [] : [{ type: "text", text: saying.words.join("") }];
    return { content: [...text, ...callsOf(saying)], ...finishOf(saying), warnings: [] };
  }

  async doStream(params: Params) {
    this.prompts.push(params.prompt);
    const saying = await this.#script(params, this.prompts.length);
    return { stream: ReadableStream.from(partsOf(saying)) as ReadableStream<Part> };
  }
}

/** Names a journal for a test, in a folder of its own that goes with the test. */
export const newFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-sdk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "journal.db");
};

type Fetch = typeof globalThis.fetch;

/** A server of a chat, which can be ended and started again over one file. */
export class World {
  readonly file = newFile();
  readonly #options: Omit<ChatOptions, "name">;
  readonly #tools: readonly ToolDefinition[];
  readonly #host: Partial<ChatHost>;
  #open: ReturnType<typeof openRuntime> | undefined;
  /** Requests that pages made. */
  readonly requests: string[] = [];

  constructor(options: Omit<ChatOptions, "name">, tools: readonly ToolDefinition[] = [], host: Partial<ChatHost> = {}) {
    this.#options = options;
    this.#tools = tools;
    this.#host = host;
  }

  #start() {
    const tool = chatTool({ name: "chat", ...this.#options });
    this.#open = openRuntime({ file: this.file, tools: [tool, ...this.#tools] });
    return { ...this.#open, tool };
  }

  #handlers: ReturnType<typeof chatHandlers> | undefined;
  get runtime() {
    if (this.#open !== undefined) return this.#open.runtime;
    const { runtime, tool } = this.#start();
    this.#handlers = chatHandlers(runtime, { tool, ...this.#host });
    return runtime;
  }
  get handlers(): ReturnType<typeof chatHandlers> {
    void this.runtime;
    return this.#handlers as ReturnType<typeof chatHandlers>;
  }

  /** Ends the server, and forgets it: the next request starts another one. */
  async restart(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#handlers = undefined;
    await open?.close();
  }

  /** The server, as pages reach it. */
  readonly fetch: Fetch = (input, init) => {
    const request = new Request(new URL(String(input), "http://chat.test"), init);
    this.requests.push(`${request.method} ${new URL(request.url).pathname}${new URL(request.url).search}`);
    return this.handlers[request.method as "GET" | "POST" | "DELETE"](request);
  };

  page(id = "c1", transport: "default" | "workflow" = "default"): Chat {
    const made: ChatTransport<UIMessage> =
      transport === "default"
        ? new DefaultChatTransport({ fetch: this.fetch })
        : (new WorkflowChatTransport({ fetch: this.fetch }) as unknown as ChatTransport<UIMessage>); // Its types are of another `ai`.
    let ids = 0;
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
    return new Chat({ id, transport: made, generateId: () => `${id}-${++ids}`, sendAutomaticallyWhen });
  }
}

/** Lets a model go on when it is told to. */
export class Gate {
  #open = Promise.withResolvers<void>();
  readonly pass = (): Promise<void> => this.#open.promise;
  open(): void {
    this.#open.resolve();
  }
}
