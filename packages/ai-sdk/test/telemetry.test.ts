/** The SDK's telemetry under bodies that run again: each answer makes one span, and its tokens count once. */
import { openRuntime } from "@pawl/driver-node";
import { type ToolContext, defineTool } from "@pawl/runtime";
import {
  type Telemetry,
  type ToolSet,
  embed,
  generateText,
  registerTelemetry,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { durableModel, durableTelemetry, durableTools } from "../src/index.ts";
import { Gate, type Saying, ScriptedModel, newFile } from "./world.ts";

/** An integration that notes what it is told, with the spans that are open. */
class Spans implements Telemetry {
  readonly told: string[] = [];
  tokens = 0;
  /** The span that a request of a model was sent in. */
  readonly within: string[] = [];
  #now = "none";

  #note(text: string): void {
    this.told.push(text);
  }
  onStart = (): void => this.#note("operation {");
  onEnd = (): void => this.#note("} operation");
  onStepStart: NonNullable<Telemetry["onStepStart"]> = ({ stepNumber }) => this.#note(`step ${stepNumber} {`);
  onStepEnd: NonNullable<Telemetry["onStepEnd"]> = ({ stepNumber }) => this.#note(`} step ${stepNumber}`);
  onLanguageModelCallStart = (): void => this.#note("model {");
  onLanguageModelCallEnd: NonNullable<Telemetry["onLanguageModelCallEnd"]> = ({ usage }) => {
    this.tokens += usage.totalTokens ?? 0;
    this.#note("} model");
  };
  onToolExecutionStart: NonNullable<Telemetry["onToolExecutionStart"]> = ({ toolCall }) =>
    this.#note(`${toolCall.toolName} {`);
  onToolExecutionEnd: NonNullable<Telemetry["onToolExecutionEnd"]> = ({ toolCall }) =>
    this.#note(`} ${toolCall.toolName}`);
  onEmbedStart = (): void => this.#note("embed {");
  onEmbedEnd = (): void => this.#note("} embed");
  executeLanguageModelCall: NonNullable<Telemetry["executeLanguageModelCall"]> = async ({ execute }) => {
    this.#now = "model";
    const result = await execute();
    this.#now = "none";
    return result;
  };
  asked(): void {
    this.within.push(this.#now);
  }
}

const first = ["operation {", "step 0 {", "model {", "} model", "look {", "} look", "} step 0"];
const second = ["step 1 {", "model {", "} model", "} step 1", "} operation"];

/** Runs a body in processes that end, each where it is told. */
const inRuns = async (body: (ctx: ToolContext) => Promise<unknown>, ends: readonly (() => Promise<void>)[]) => {
  const file = newFile();
  const again = defineTool({
    name: "again",
    durable: true,
    execute: async (_, ctx) => {
      await body(ctx);
      await ctx.sleep(60_000);
    },
  });
  for (const end of ends) {
    const { runtime, close } = openRuntime({ file, tools: [again] });
    const session = await runtime.session("s");
    void session.call(again, {}, { id: "r" }).catch(() => undefined); // Its process ends before.
    await end();
    await close();
  }
};

const look = tool({ inputSchema: z.object({ order: z.string() }), execute: ({ order }) => `${order} is here` });
const askThenSay = ({ prompt }: { readonly prompt: readonly { readonly role: string }[] }): Saying =>
  prompt.at(-1)?.role === "tool"
    ? { words: ["done"] }
    : { calls: [{ id: "c1", name: "look", input: { order: "A1" } }] };

const ways = {
  generateText: async (options: Parameters<typeof generateText>[0]) => void (await generateText(options)),
  streamText: async (options: Parameters<typeof generateText>[0]) =>
    streamText(options as Parameters<typeof streamText>[0]).consumeStream(),
};

describe.each(["generateText", "streamText"] as const)("telemetry of %s", (way) => {
  const asking = (model: ScriptedModel, spans: Spans) => (ctx: ToolContext) =>
    ways[way]({
      model: durableModel(ctx, model),
      tools: durableTools(ctx, { look }) as ToolSet,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      telemetry: durableTelemetry(ctx, { integrations: [spans] }),
      prompt: "go",
    });

  it("is told of an operation once, though its body runs three times", async () => {
    const spans = new Spans();
    let runs = 0;
    const model = new ScriptedModel((params) => {
      spans.asked();
      return askThenSay(params);
    });
    const body = async (ctx: ToolContext): Promise<void> => {
      await asking(model, spans)(ctx);
      runs += 1;
    };
    const ran = (n: number) => () => expect.poll(() => runs, { timeout: 10_000 }).toBe(n);
    await inRuns(body, [ran(1), ran(2), ran(3)]);
    expect(spans.told).toEqual([...first, ...second]);
    expect(spans.tokens).toBe(10);
    expect(spans.within).toEqual(["model", "model"]);
  });

  it("is told of the answer that a crash interrupted, and not again of those before it", async () => {
    const spans = new Spans();
    const gate = new Gate();
    let runs = 0;
    const model = new ScriptedModel(async (params, asked) => {
      if (asked === 2) await new Promise(() => undefined); // Its process ends meanwhile.
      return askThenSay(params);
    });
    const body = async (ctx: ToolContext): Promise<void> => {
      await asking(model, spans)(ctx);
      gate.open();
      runs += 1;
    };
    const secondIsAsked = () => expect.poll(() => model.asked, { timeout: 10_000 }).toBe(2);
    await inRuns(body, [
      async () => {
        await secondIsAsked();
        await expect.poll(() => spans.told.length, { timeout: 10_000 }).toBe(9);
        spans.told.splice(0);
      },
      gate.pass,
    ]);
    expect([runs, model.asked]).toEqual([1, 3]);
    expect(spans.told).toEqual(["operation {", ...second]);
    expect(spans.tokens).toBe(10);
  });
});

it("is told of an embedding once, and of integrations that are registered", async () => {
  const spans = new Spans();
  let runs = 0;
  const model = {
    specificationVersion: "v4" as const,
    provider: "script",
    modelId: "e1",
    maxEmbeddingsPerCall: 5,
    supportsParallelCalls: true,
    doEmbed: async () => ({ embeddings: [[1, 2]], usage: { tokens: 1 }, warnings: [] }),
  };
  const { AI_SDK_TELEMETRY_INTEGRATIONS: before } = globalThis;
  registerTelemetry(spans);
  onTestFinished(() => void (globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = before?.slice(0, -1)));
  await inRuns(
    async (ctx) => {
      await embed({ model: durableModel(ctx, model), value: "a", telemetry: durableTelemetry(ctx), maxRetries: 0 });
      runs += 1;
    },
    [1, 2].map((n) => () => expect.poll(() => runs, { timeout: 10_000 }).toBe(n)),
  );
  expect(spans.told).toEqual(["operation {", "embed {", "} embed", "} operation"]);
});
