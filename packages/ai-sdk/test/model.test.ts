/** Models and tools under the SDK's own loops, in bodies that run again. */
import { statSync } from "node:fs";
import { openRuntime } from "@pawl/driver-node";
import { type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import {
  APICallError,
  type EmbeddingModel,
  type ImageModel,
  ToolLoopAgent,
  embedMany,
  generateImage,
  generateText,
  stepCountIs,
  streamText,
  tool,
} from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { durableModel, durableTools } from "../src/index.ts";
import { type Saying, ScriptedModel, newFile } from "./world.ts";

type Body = (ctx: ToolContext) => Promise<unknown>;

/** Runs a body in one process, and again in a second one; returns what it came to in each. */
const inTwoRuns = async (body: Body, tools: readonly ToolDefinition[] = []): Promise<readonly [unknown, unknown]> => {
  const runs: unknown[] = [];
  const file = newFile();
  const twice = defineTool({
    name: "twice",
    durable: true,
    execute: async (_, ctx) => {
      runs.push(await body(ctx));
      await ctx.sleep(60_000);
    },
  });
  for (let n = 1; n <= 2; n++) {
    const { runtime, close } = openRuntime({ file, tools: [twice, ...tools] });
    const session = await runtime.session("s");
    void session.call(twice, {}, { id: "r" }).catch(() => undefined); // Its process ends before.
    await expect.poll(() => runs.length, { timeout: 10_000 }).toBe(n);
    await close();
  }
  return [runs[0], runs[1]];
};

const retry = { firstDelayMs: 1 };

const failing = (isRetryable: boolean, times: number) =>
  new ScriptedModel((_, asked): Saying => {
    const said = { message: "busy", url: "https://model.test", requestBodyValues: { s3cret: 1 }, statusCode: 429 };
    return asked <= times ? { breaks: new APICallError({ ...said, isRetryable }) } : { words: ["there"] };
  });

describe("a durable model", () => {
  it("answers `generateText` and `streamText` with the same in each run, with its id and its time", async () => {
    const model = new ScriptedModel((_, asked) => ({ words: [`answer ${asked}`] }));
    const [first, second] = await inTwoRuns(async (ctx) => {
      const durable = durableModel(ctx, model);
      const whole = await generateText({ model: durable, prompt: "one" });
      const streamed = streamText({ model: durable, prompt: "two" });
      await streamed.consumeStream();
      const { id, timestamp, modelId } = await streamed.response;
      const { id: wholeId, timestamp: at } = whole.response;
      return [whole.text, wholeId, at, await streamed.text, id, timestamp, modelId, await streamed.usage];
    });
    expect(second).toEqual(first);
    expect(first).toEqual([
      "answer 1",
      expect.stringMatching(/-/),
      expect.any(Date),
      "answer 2",
      expect.stringMatching(/-/),
      expect.any(Date),
      "m1",
      expect.objectContaining({ totalTokens: 5 }),
    ]);
    expect(model.asked).toBe(2);
  });

  it("keeps calls at once apart, also where they are equal", async () => {
    const model = new ScriptedModel(async ({ prompt }, asked) => {
      const { content } = prompt.at(-1) ?? {};
      const [{ text = "" } = {}] = content as { readonly text?: string }[];
      await new Promise((resolve) => setTimeout(resolve, text === "slow" ? 60 : 5));
      return { words: [`${text} ${asked}`] };
    });
    const [first, second] = await inTwoRuns(async (ctx) => {
      const ask = async (prompt: string): Promise<string> =>
        (await generateText({ model: durableModel(ctx, model), prompt })).text;
      return Promise.all(["slow", "fast", "fast"].map(ask));
    });
    expect(first).toEqual(["slow 1", "fast 2", "fast 3"]);
    expect(second).toEqual(first);
    expect(model.asked).toBe(3);
  });

  it("is asked again within its step while its provider is busy", async () => {
    const model = failing(true, 2);
    const ask: Body = async (ctx) =>
      (await generateText({ model: durableModel(ctx, model, retry), prompt: "one" })).text;
    expect(await inTwoRuns(ask)).toEqual(["there", "there"]);
    expect(model.asked).toBe(3);
  });

  it.each([true, false])(
    "that fails fails with the SDK's own error in each run, and is not tried again by the SDK: %s",
    async (whole) => {
      const model = failing(false, 100);
      const ask: Body = async (ctx) => {
        const durable = durableModel(ctx, model, retry);
        const thrown: unknown[] = [];
        if (whole) await generateText({ model: durable, prompt: "one" }).catch((error: unknown) => thrown.push(error));
        else
          await streamText({
            model: durable,
            prompt: "one",
            onError: ({ error }) => void thrown.push(error),
          }).consumeStream();
        const [error] = thrown;
        return [thrown.length, APICallError.isInstance(error) && [error.message, error.statusCode, error.isRetryable]];
      };
      const [first, second] = await inTwoRuns(ask);
      expect(first).toEqual([1, ["busy", 429, false]]);
      expect(second).toEqual(first);
      expect(model.asked).toBe(1);
    },
  );

  it("may be one of embeddings or of images", async () => {
    let asked = 0;
    const embedding: Extract<EmbeddingModel, { readonly specificationVersion: "v4" }> = {
      specificationVersion: "v4",
      provider: "script",
      modelId: "e1",
      maxEmbeddingsPerCall: 2,
      supportsParallelCalls: true,
      doEmbed: async ({ values }) => ({ embeddings: values.map((_, i) => [i, (asked += 1)]), warnings: [] }),
    };
    const image: Extract<ImageModel, { readonly specificationVersion: "v4" }> = {
      specificationVersion: "v4",
      provider: "script",
      modelId: "i1",
      maxImagesPerCall: 1,
      doGenerate: async () => {
        asked += 1;
        const response = { timestamp: new Date(), modelId: "i1", headers: {} };
        return { images: [Uint8Array.of(137, 80, 78, 71, asked)], warnings: [], response };
      },
    };
    const [first, second] = await inTwoRuns(async (ctx) => {
      const { embeddings } = await embedMany({ model: durableModel(ctx, embedding), values: ["a", "b", "c"] });
      const { image: made } = await generateImage({ model: durableModel(ctx, image), prompt: "a horse" });
      return [embeddings, [...made.uint8Array]];
    });
    expect(first).toEqual([
      [
        [0, 1],
        [1, 2],
        [0, 3],
      ],
      [137, 80, 78, 71, 4],
    ]);
    expect(second).toEqual(first);
    expect(asked).toBe(4);
  });

  it("is a model, and no name of one", () => {
    const ctx = {} as ToolContext;
    expect(() => durableModel(ctx, "openai/gpt-5" as never)).toThrow(/expected a model, found "openai\/gpt-5"/);
  });
});

const calling = (...calls: NonNullable<Saying["calls"]>) =>
  new ScriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === "user" ? { calls } : { words: [JSON.stringify(prompt.at(-1)?.content)] },
  );

const ask = async (ctx: ToolContext, model: ScriptedModel, tools: Parameters<typeof durableTools>[1]) =>
  generateText({
    model: durableModel(ctx, model),
    tools: durableTools(ctx, tools),
    stopWhen: stepCountIs(3),
    maxRetries: 0,
    prompt: "go",
  });

describe("durable tools", () => {
  it("run once each, at once, by the model's ids", async () => {
    const done: string[] = [];
    const pay = tool({
      inputSchema: z.object({ cents: z.number() }),
      execute: async ({ cents }, { toolCallId }) => {
        done.push(`${toolCallId} begins`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        done.push(`${toolCallId} ends`);
        if (cents > 2) throw new Error("too much");
        return { paid: cents };
      },
    });
    const model = calling(...[1, 2, 3].map((cents) => ({ id: `c${cents}`, name: "pay", input: { cents } })));
    const [first, second] = await inTwoRuns(async (ctx) => (await ask(ctx, model, { pay })).text);
    expect(done).toEqual(["c1 begins", "c2 begins", "c3 begins", "c1 ends", "c2 ends", "c3 ends"]);
    expect(first).toMatch(/{"paid":1}.*{"paid":2}.*too much/);
    expect(second).toEqual(first);
  });

  it("of pawl are called, with the model's id as label, and tell of a denial as the SDK does", async () => {
    const refund = defineTool({
      name: "refund",
      description: "Refunds.",
      inputSchema: z.object({ cents: z.number() }),
      durable: true,
      needsApproval: ({ cents }) => cents > 10,
      execute: ({ cents }, ctx) => ctx.run("pay", () => `${cents} paid`),
    });
    const model = calling(
      { id: "c1", name: "refund", input: { cents: 5 } },
      { id: "c2", name: "refund", input: { cents: 50 } },
      { id: "c3", name: "refund", input: { cents: "many" } },
    );
    const file = newFile();
    const agent = defineTool({
      name: "agent",
      durable: true,
      execute: async (_, ctx) => (await ask(ctx, model, { refund })).text,
    });
    const { runtime, close } = openRuntime({ file, tools: [agent, refund] });
    const session = await runtime.session("s");
    const text = session.call(agent, {}, { id: "r" });
    await expect
      .poll(async () => (await session.approvals()).map(({ label }) => label), { timeout: 5000 })
      .toEqual(["c2"]);
    for (const one of await session.approvals()) await one.reject({ by: "ann", reason: "too much" });
    expect(await text).toMatch(/"5 paid".*execution-denied.*too much.*cents/);
    await close();
  });

  it("ask a person where they need approval, run with the edited arguments, and are safe under an agent of the SDK", async () => {
    const done: number[] = [];
    const pay = tool({
      inputSchema: z.object({ cents: z.number() }),
      needsApproval: ({ cents }) => cents > 10,
      execute: ({ cents }) => void done.push(cents),
    });
    const model = calling(...[5, 50, 60].map((cents) => ({ id: `c${cents}`, name: "pay", input: { cents } })));
    const agent = defineTool({
      name: "agent",
      durable: true,
      execute: async (_, ctx) => {
        const loop = new ToolLoopAgent({ model: durableModel(ctx, model), tools: durableTools(ctx, { pay }) });
        return (await loop.generate({ prompt: "go" })).text;
      },
    });
    const { runtime, close } = openRuntime({ file: newFile(), tools: [agent] });
    const session = await runtime.session("s");
    const text = session.call(agent, {}, { id: "r" });
    const titles = ["pay (c50)", "pay (c60)"];
    await expect
      .poll(async () => (await session.approvals()).map(({ label }) => label), { timeout: 5000 })
      .toEqual(titles);
    const [fifty, sixty] = await session.approvals();
    await fifty?.approve({ by: "ann", args: { cents: 40 } });
    await sixty?.reject({ by: "ann", reason: "no" });
    expect(await text).toMatch(/"c60".*execution-denied.*no/);
    expect(done).toEqual([5, 40]);
    await close();
  });
});

describe("an agent of 100 turns", () => {
  it("keeps its journal small: no prompt is on record", { timeout: 60_000 }, async () => {
    const model = new ScriptedModel((_, asked) =>
      asked > 100
        ? { words: ["done"] }
        : { words: ["Next. "], calls: [{ id: `c${asked}`, name: "read", input: { page: asked } }] },
    );
    const read = tool({
      inputSchema: z.object({ page: z.number() }),
      execute: ({ page }) => `${page} `.repeat(5000 / `${page} `.length),
    });
    const agent = defineTool({
      name: "agent",
      durable: true,
      execute: async (_, ctx) => {
        const { text } = streamText({
          model: durableModel(ctx, model),
          tools: durableTools(ctx, { read }),
          stopWhen: stepCountIs(200),
          maxRetries: 0,
          prompt: "Read all pages.",
        });
        return text;
      },
    });
    const file = newFile();
    const { runtime, close } = openRuntime({ file, tools: [agent] });
    const session = await runtime.session("s");
    expect(await session.call(agent, {}, { id: "r" })).toBe("done");
    const { seq } = session.state;
    await close();
    const bytes = ["", "-wal"].reduce(
      (sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    console.log(
      `100 turns: ${(bytes / 1e6).toFixed(2)} MB, ${seq} events; Temporal ended such a run at 50 MB (sdk-python #1890)`,
    );
    expect(model.asked).toBe(101);
    expect(bytes).toBeLessThan(2e6);
  });
});
