/** The client of OpenAI over `durableFetch`: whole answers and streams, over a restart. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { defineTool, durableFetch } from "@pawl/runtime";
import OpenAI from "openai";
import { expect, it } from "vitest";
import { Services } from "../../ai-sdk/test/kill/model-server.ts";

it("has each answer once, with the SDK's own reading of it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-openai-fetch-"));
  const services = await Services.open(() => undefined);
  const said: unknown[] = [];
  const agent = defineTool({
    name: "agent",
    durable: true,
    execute: async (_, ctx) => {
      const fetch = durableFetch(ctx, { idempotencyKey: true });
      const client = new OpenAI({ baseURL: services.url, apiKey: "s3cret", fetch });
      const messages = [{ role: "user" as const, content: "Refund A1" }];
      const whole = await client.chat.completions.create({ model: "m1", messages });
      const words: string[] = [];
      const chunks = await client.chat.completions.create({ model: "m1", messages, stream: true });
      for await (const { choices } of chunks) words.push(choices[0]?.delta.content ?? "");
      const { output_text: text } = await client.responses.create({ model: "m1", input: messages });
      said.push([whole.choices[0]?.message.content, words.join(""), text]);
      await ctx.sleep(60_000);
    },
  });
  for (let run = 1; run <= 2; run++) {
    const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [agent] });
    const session = await runtime.session("s");
    void session.call(agent, {}, { id: "r" }).catch(() => undefined); // Its process ends before.
    await expect.poll(() => said.length, { timeout: 10_000 }).toBe(run);
    await close();
  }
  await services.close();
  rmSync(folder, { recursive: true, force: true });
  expect(said[0]).toEqual(["Let me look. ", "Let me look. ", "Let me look. "]);
  expect(said[1]).toEqual(said[0]);
  expect(services.ledger.asked).toEqual([3, 0, 0]);
});
