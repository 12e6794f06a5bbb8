/** Models and tools under version 6 of the SDK. */
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { type LanguageModel, type ToolSet, generateText, stepCountIs, streamText, tool } from "ai-6";
import { expect, it } from "vitest";
import { z } from "zod";
import { durableModel, durableTools } from "../src/index.ts";
import { ScriptedModel, newFile } from "./world.ts";

type Model = Exclude<LanguageModel, string>;

const sixOf = (model: ScriptedModel): Model =>
  Object.defineProperty(model, "specificationVersion", { value: "v3" }) as unknown as Model;

it("are durable: answers are asked for once, and tools run once", async () => {
  const done: number[] = [];
  const pay = tool({
    inputSchema: z.object({ cents: z.number() }),
    needsApproval: true,
    execute: ({ cents }) => `paid ${done.push(cents)}`,
  });
  const script = new ScriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === "user"
      ? { words: ["So."], calls: [{ id: "c1", name: "pay", input: { cents: 5 } }] }
      : { words: ["It is ", JSON.stringify(prompt.at(-1)?.content)] },
  );
  const model = sixOf(script);
  const said: string[] = [];
  const agent = defineTool({
    name: "agent",
    durable: true,
    execute: async (_, ctx) => {
      const common = {
        model: durableModel(ctx, model),
        tools: durableTools(ctx, { pay: pay as never }) as unknown as ToolSet,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      };
      const { text } = await generateText({ ...common, prompt: "go" });
      const streamed = streamText({ ...common, prompt: "go on" });
      said.push(text, await streamed.text);
      await ctx.sleep(60_000);
    },
  });
  const file = newFile();
  for (let run = 1; run <= 2; run++) {
    const { runtime, close } = openRuntime({ file, tools: [agent] });
    const session = await runtime.session("s");
    void session.call(agent, {}, { id: "r" }).catch(() => undefined); // Its process ends before.
    for (const asked of run === 1 ? [0, 1] : []) {
      await expect.poll(async () => (await session.approvals()).length, { timeout: 10_000 }).toBe(1);
      for (const one of await session.approvals()) await one.approve({ by: "ann" });
      await expect.poll(() => done.length, { timeout: 10_000 }).toBe(asked + 1);
    }
    await expect.poll(() => said.length, { timeout: 10_000 }).toBe(2 * run);
    await close();
  }
  expect(said.slice(0, 2)).toEqual([expect.stringMatching(/It is .*paid 1/), expect.stringMatching(/It is .*paid 2/)]);
  expect(said.slice(2)).toEqual(said.slice(0, 2));
  expect([done, script.asked]).toEqual([[5, 5], 4]);
});
