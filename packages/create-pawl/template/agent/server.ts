/** The server of a page with `useChat({ resume: true })`. An answer goes on in mid-word after a crash. */
import { serve } from "@hono/node-server";
import { chatHandlers, chatTool } from "@pawl/ai-sdk";
import { openRuntime } from "@pawl/driver-node";
import { Hono } from "hono";
import { model } from "./model.ts";
import { refundTool } from "./refund.ts";

const refund = refundTool(async (order, cents, key) => `${cents} cents for ${order}, under ${key}`);
const chat = chatTool({ name: "chat", model, instructions: "You help with orders.", tools: { refund } });
const { runtime } = openRuntime({ file: "journal.db", tools: [chat, refund] });
const { GET, POST, DELETE } = chatHandlers(runtime, { tool: chat });

const app = new Hono()
  .post("/api/chat", ({ req }) => POST(req.raw))
  .get("/api/chat/:id/stream", ({ req }) => GET(req.raw))
  .delete("/api/chat/:id", ({ req }) => DELETE(req.raw));

serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000), hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/api/chat`),
);
