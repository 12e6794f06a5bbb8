/** The adapter over the AI SDK's models: each version of its specification, a provider package over HTTP, and failures. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { LanguageModelV2, LanguageModelV2StreamPart } from "@ai-sdk/provider-v2";
import type { LanguageModelV3, LanguageModelV3StreamPart } from "@ai-sdk/provider-v3";
import { defineTool } from "@pawl/runtime";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { aiSdkModel } from "../src/ai-sdk/index.ts";
import { type AgentModel, defineAgent } from "../src/index.ts";
import { framesOf, open, textOf } from "./world.ts";

const look = defineTool({
  name: "look",
  description: "Looks at it.",
  readOnly: true,
  inputSchema: { type: "object", properties: { at: { type: "string" } } },
  execute: async ({ at }) => `seen ${at ?? "nothing"}`,
});

const streamOf = <P>(parts: readonly P[]): ReadableStream<P> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

const usageOfV4 = {
  inputTokens: { total: 12, noCache: 4, cacheRead: 8, cacheWrite: undefined },
  outputTokens: { total: 7, text: 5, reasoning: 2 },
};

/** A model of version 4 that thinks, looks, and tells; it keeps what it was asked. */
const modelOfV4 = () => {
  const asked: LanguageModelV4CallOptions[] = [];
  const answers: readonly (readonly LanguageModelV4StreamPart[])[] = [
    [
      { type: "stream-start", warnings: [{ type: "other", message: "a preview" }] },
      { type: "response-metadata", id: "r-1", modelId: "m-1" },
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "I should " },
      { type: "reasoning-delta", id: "0", delta: "look." },
      { type: "reasoning-end", id: "0", providerMetadata: { p: { signature: "signed" } } },
      { type: "tool-input-start", id: "c", toolName: "look" },
      { type: "tool-input-delta", id: "c", delta: "{}" },
      { type: "tool-call", toolCallId: "c", toolName: "look", input: '{"at":"it"}' },
      { type: "finish", finishReason: { unified: "tool-calls", raw: "tool_use" }, usage: usageOfV4 },
    ],
    [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "It is " },
      { type: "text-delta", id: "0", delta: "a wheel." },
      { type: "text-end", id: "0" },
      { type: "source", sourceType: "url", id: "s", url: "https://example.com/wheel" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw==" } },
      { type: "finish", finishReason: { unified: "stop", raw: "end_turn" }, usage: usageOfV4 },
    ],
    [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "Still a wheel." },
      { type: "finish", finishReason: { unified: "stop", raw: "end_turn" }, usage: usageOfV4 },
    ],
  ];
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "p.chat",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("it streams")),
    doStream: async (options) => {
      asked.push(options);
      return { stream: streamOf(answers[asked.length - 1] ?? []) };
    },
  };
  return { model, asked };
};

const lookAt = (model: AgentModel) =>
  defineAgent({ instructions: "Be short.", model, tools: [look], toolChoice: "auto" });

const said = (statusCode: number | undefined, text = "", headers = {}): APICallError =>
  new APICallError({
    message: text === "" ? "no" : text,
    url: "http://127.0.0.1",
    requestBodyValues: {},
    ...(statusCode === undefined ? {} : { statusCode }),
    responseHeaders: headers,
  });

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "c", model: "wheel", choices: [{ index: 0, delta, ...more }] })}\n\n`;

describe("a model of the AI SDK", () => {
  it("of version 4 streams into a turn; what it signed goes back to it unchanged", async () => {
    const { model, asked } = modelOfV4();
    const agent = lookAt(aiSdkModel(model, { settings: { temperature: 0.5 } }));
    const { session, close } = await open([agent]);
    const turn = agent.turn(session, "What is it?", { id: "t1" });
    expect(textOf(await framesOf(turn))).toBe("It is a wheel.");
    expect(await turn.end).toMatchObject({
      status: "finished",
      used: { input_tokens: 24, output_tokens: 14, model_calls: 2 },
    });
    const [first, second] = asked;
    expect(first).toMatchObject({
      temperature: 0.5,
      toolChoice: { type: "auto" },
      tools: [{ type: "function", name: "look", description: "Looks at it.", inputSchema: { type: "object" } }],
      headers: { "Idempotency-Key": "session:s/t1:model:1.0" },
      prompt: [
        { role: "system", content: "Be short." },
        { role: "user", content: [{ type: "text", text: "What is it?" }] },
      ],
    });
    expect(second?.prompt.slice(2)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "I should look.", providerOptions: { p: { signature: "signed" } } },
          { type: "tool-call", toolCallId: "c", toolName: "look", input: { at: "it" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c", toolName: "look", output: { type: "text", value: "seen it" } },
        ],
      },
    ]);
    await agent.turn(session, "And now?", { id: "t2" }).end;
    expect(asked[2]?.prompt[4]?.content).toEqual([
      { type: "text", text: "It is a wheel." },
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([137, 80, 78, 71]) } },
    ]);
    await close();
  });

  it("of version 3 and 2 is asked in their forms", async () => {
    const third: LanguageModelV3StreamPart[] = [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "Three." },
      { type: "text-end", id: "0" },
      { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage: usageOfV4 },
    ];
    const v3: LanguageModelV3 = {
      specificationVersion: "v3",
      provider: "p3",
      modelId: "m",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("it streams")),
      doStream: async () => ({ stream: streamOf(third) }),
    };
    const second: LanguageModelV2StreamPart[] = [
      { type: "text-start", id: "0" },
      { type: "text-delta", id: "0", delta: "Two." },
      { type: "text-end", id: "0" },
      {
        type: "finish",
        finishReason: "stop",
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1 },
      },
    ];
    const v2: LanguageModelV2 = {
      specificationVersion: "v2",
      provider: "p2",
      modelId: "m",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("it streams")),
      doStream: async () => ({ stream: streamOf(second) }),
    };
    const a = defineAgent({ model: aiSdkModel(v3) });
    const b = defineAgent({ name: "b", model: aiSdkModel(v2) });
    const { session, close } = await open([a, b]);
    expect(await a.turn(session, "hi", { id: "t1" }).end).toMatchObject({ text: "Three.", used: { output_tokens: 7 } });
    expect(await b.turn(session, "hi", { id: "t2" }).end).toMatchObject({ text: "Two.", used: { input_tokens: 3 } });
    await close();
  });

  it("answers at once where it is not to stream", async () => {
    const { model } = modelOfV4();
    const whole: LanguageModelV4 = {
      ...model,
      doGenerate: async () => ({
        content: [
          { type: "text", text: "All " },
          { type: "text", text: "of it." },
        ],
        finishReason: { unified: "stop", raw: undefined },
        usage: usageOfV4,
        warnings: [],
        response: { id: "r", body: { prompt: "is in here" } },
      }),
    };
    const agent = defineAgent({ model: aiSdkModel(whole, { stream: false }) });
    const { session, close } = await open([agent]);
    expect(await agent.turn(session, "hi", { id: "t1" }).text()).toBe("All of it.");
    await close();
  });

  it("fails by the class of what it throws, as HTTP says it", async () => {
    const classes: readonly (readonly [APICallError | Error, string])[] = [
      [said(429), "rate_limit"],
      [said(429, "insufficient_quota"), "quota"],
      [said(529), "overloaded"],
      [said(408), "timeout"],
      [said(500), "provider"],
      [said(401), "auth"],
      [said(402), "quota"],
      [said(400, "This model's maximum context length is 8192 tokens"), "context_too_long"],
      [said(400), "invalid_request"],
      [said(undefined), "transport"],
      [new Error("what"), "unknown"],
    ];
    const call = { prompt: [], tools: [], toolChoice: "auto", settings: null, key: "k" } as never;
    for (const [thrown, wanted] of classes) {
      const { model } = modelOfV4();
      const { port } = aiSdkModel({ ...model, doStream: () => Promise.reject(thrown) } satisfies LanguageModelV4);
      await expect(port.ask(call), thrown.message).rejects.toMatchObject({ name: "ModelError", kind: wanted });
    }
    const { model } = modelOfV4();
    const busy = said(429, "slow down", { "retry-after": "2" });
    const { port } = aiSdkModel({ ...model, doStream: () => Promise.reject(busy) } satisfies LanguageModelV4);
    await expect(port.ask(call)).rejects.toMatchObject({ more: { retryAfterMs: 2000 } });
  });

  it("fails as `transport` where its stream ends in the middle, and as what its stream says", async () => {
    const { model } = modelOfV4();
    const call = { prompt: [], tools: [], toolChoice: "auto", settings: null, key: "k", say: () => undefined } as never;
    const streaming = (parts: readonly LanguageModelV4StreamPart[]) =>
      aiSdkModel({ ...model, doStream: async () => ({ stream: streamOf(parts) }) } satisfies LanguageModelV4).port.ask(
        call,
      );
    await expect(streaming([{ type: "text-start", id: "0" }])).rejects.toMatchObject({ kind: "transport" });
    await expect(streaming([{ type: "error", error: new Error("half way") }])).rejects.toMatchObject({
      message: "half way",
    });
  });
});

describe("a provider package of the AI SDK", () => {
  it("is asked over HTTP, with the key of the attempt", async () => {
    const keys: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      keys.push(request.headers["idempotency-key"] as string | undefined);
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chunk({ role: "assistant", content: "Hello " }));
        response.write(chunk({ content: "there." }));
        response.end(`${chunk({}, { finish_reason: "stop" })}data: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const provider = createOpenAICompatible({ name: "local", baseURL: `http://127.0.0.1:${port}/v1` });
    const agent = defineAgent({ model: aiSdkModel(provider("wheel")) });
    const { session, close } = await open([agent]);
    expect(await agent.turn(session, "hi", { id: "t1" }).text()).toBe("Hello there.");
    expect(keys).toEqual(["session:s/t1:model:1.0"]);
    await close();
    server.close();
  });
});
