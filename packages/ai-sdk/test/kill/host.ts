/** A server of a chat, as a process that is killed. Its arguments: the journal, the API, and where the model is. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { chatHandlers, chatTool, durableModel, durableTools } from "../../src/index.ts";
import type { Api } from "./model-server.ts";

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const [file = "", api = "chat", url = ""] = process.argv.slice(2);
const settings = { baseURL: url, apiKey: "s3cret" };
const models = {
  chat: () => createOpenAI(settings).chat("m1"),
  responses: () => createOpenAI(settings).responses("m1"),
  messages: () => createAnthropic(settings)("m1"),
};
const model = models[api as Api]();

const effect = async (name: string, key: string): Promise<unknown> => {
  const response = await fetch(`${url}/effect`, { method: "POST", body: JSON.stringify({ key, name }) });
  return response.json();
};
const tools = {
  look: tool({
    inputSchema: z.object({ order: z.string() }),
    execute: (_, { toolCallId }) => effect("look", toolCallId),
  }),
  refund: tool({
    inputSchema: z.object({ cents: z.number() }),
    needsApproval: ({ cents }) => cents > 10,
    execute: (_, { toolCallId }) => effect("refund", toolCallId),
  }),
};
const ask = defineTool({
  name: "ask",
  durable: true,
  execute: async (_, ctx) => {
    const { steps } = await generateText({
      model: durableModel(ctx, model),
      tools: durableTools(ctx, tools),
      stopWhen: stepCountIs(5),
      maxRetries: 0,
      prompt: "Refund A1",
    });
    return steps.map(({ text }) => text).join("");
  },
});
const chat = chatTool({ name: "chat", model, tools });
const { runtime } = openRuntime({ file, tools: [ask, chat] });
const handlers = chatHandlers(runtime, { tool: chat });

/** Serves what is not streamed: asked, decided and read by its own routes. */
const plain = async (path: string): Promise<Response> => {
  const session = await runtime.session("plain");
  if (path === "/approve") for (const one of await session.approvals()) await one.approve({ by: "ann" });
  if (path === "/approvals") return Response.json((await session.approvals()).length);
  return Response.json(path === "/ask" ? await session.call(ask, {}, { id: "r" }) : "");
};

const server = createServer((request, response) => {
  const { method = "GET", url: path = "/" } = request;
  const body = method === "POST" ? { body: Readable.toWeb(request) as ReadableStream, duplex: "half" as const } : {};
  const asked = new Request(`http://127.0.0.1${path}`, { method, ...body });
  const answered = path.startsWith("/api/") ? handlers[method as "GET" | "POST" | "DELETE"](asked) : plain(path);
  answered.then(
    (said) => {
      response.writeHead(said.status, Object.fromEntries(said.headers));
      if (said.body === null) response.end();
      else
        Readable.fromWeb(said.body as Parameters<typeof Readable.fromWeb>[0])
          .on("error", () => response.destroy())
          .pipe(response);
    },
    (thrown: unknown) => {
      console.error(thrown);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
