/** Providers of the SDK over `durableFetch`: what they are given is the same in every run, and is asked for once. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { openRuntime } from "@pawl/driver-node";
import { defineTool, durableFetch } from "@pawl/runtime";
import { generateText, streamText, tool } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import { type Api, Services } from "./kill/model-server.ts";
import { newFile } from "./world.ts";

const apis: readonly Api[] = ["chat", "responses", "messages"];

it.each(apis)("asks the API `%s` once for each answer, whole or in parts, over a restart", async (api) => {
  const services = await Services.open(() => undefined);
  const said: unknown[] = [];
  const agent = defineTool({
    name: "agent",
    durable: true,
    execute: async (_, ctx) => {
      const settings = { baseURL: services.url, apiKey: "s3cret", fetch: durableFetch(ctx) };
      const models = {
        chat: () => createOpenAI(settings).chat("m1"),
        responses: () => createOpenAI(settings).responses("m1"),
        messages: () => createAnthropic(settings)("m1"),
      };
      const look = tool({ inputSchema: z.object({ order: z.string() }), outputSchema: z.string() }); // Run by nobody: the loop ends there.
      const asked = { model: models[api](), tools: { look }, prompt: "Refund A1", maxOutputTokens: 100 };
      const whole = await generateText(asked);
      const words: string[] = [];
      const streamed = streamText(asked);
      for await (const word of streamed.textStream) words.push(word);
      const calls = [whole.toolCalls, await streamed.toolCalls]
        .flat()
        .map(({ toolCallId, input }) => [toolCallId, input]);
      said.push([whole.text, words.join(""), calls]);
      await ctx.sleep(60_000);
    },
  });
  const file = newFile();
  for (let run = 1; run <= 2; run++) {
    const { runtime, close } = openRuntime({ file, tools: [agent] });
    const session = await runtime.session("s");
    void session.call(agent, {}, { id: "r" }).catch(() => undefined); // Its process ends before.
    await expect.poll(() => said.length, { timeout: 10_000 }).toBe(run);
    await close();
  }
  await services.close();
  const call = ["call_1", { order: "A1" }];
  expect(said[0]).toEqual(["Let me look. ", "Let me look. ", [call, call]]);
  expect(said[1]).toEqual(said[0]);
  expect(services.ledger.asked).toEqual([2, 0, 0]);
});
