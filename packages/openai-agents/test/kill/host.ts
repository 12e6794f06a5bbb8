/** A server of an agent, as a process that is killed. Its arguments: the journal, the API, and where the model is. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import OpenAI from "openai";
import { z } from "zod";
import { durableProvider, durableTools, runUntilDone } from "../../src/index.ts";

setTracingDisabled(true);
const [file = "", api = "chat", url = "", streamed = ""] = process.argv.slice(2);
const openAIClient = new OpenAI({ baseURL: url, apiKey: "s3cret" });
const provider = new OpenAIProvider({ openAIClient, useResponses: api === "responses" });

const effect = async (name: string, key: string): Promise<string> => {
  const response = await fetch(`${url}/effect`, { method: "POST", body: JSON.stringify({ key, name }) });
  return response.text();
};
const look = tool({
  name: "look",
  description: "Looks at an order.",
  parameters: z.object({ order: z.string() }),
  execute: (_, __, details) => effect("look", details?.toolCall?.callId ?? ""),
});
const refund = tool({
  name: "refund",
  description: "Refunds.",
  parameters: z.object({ cents: z.number() }),
  needsApproval: async (_, { cents }) => cents > 10,
  execute: (_, __, details) => effect("refund", details?.toolCall?.callId ?? ""),
});

const ask = defineTool({
  name: "ask",
  durable: true,
  execute: async (_, ctx) => {
    const runner = new Runner({ modelProvider: durableProvider(ctx, provider) });
    const agent = new Agent({ name: "a", model: "m1", tools: durableTools(ctx, [look, refund]) });
    return runUntilDone(ctx, runner, agent, "Refund A1", streamed === "" ? {} : { onEvent: () => undefined });
  },
});
const { runtime } = openRuntime({ file, tools: [ask] });

const answer = async (path: string): Promise<unknown> => {
  const session = await runtime.session("plain");
  if (path === "/approve") for (const one of await session.approvals()) await one.approve({ by: "ann" });
  if (path === "/approvals") return (await session.approvals()).length;
  return path === "/ask" ? session.call(ask, {}, { id: "r" }) : "";
};
const server = createServer((request, response) => {
  answer(request.url ?? "/").then(
    (said) => response.end(JSON.stringify(said)),
    () => response.writeHead(500).end(),
  );
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
