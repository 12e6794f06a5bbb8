/**
 * The server of a page with `useChat({ resume: true })`: `POST /api/chat`, `GET /api/chat/:id/stream`, `DELETE /api/chat/:id`.
 * A turn goes on in mid-word after a crash, and a refund waits for a person. docs/model-apis.md says more.
 */
import { type ChatOptions, chatHandlers, chatTool } from "@pawl/ai-sdk";
import { openRuntime } from "@pawl/driver-node";
import { tool } from "ai";
import { z } from "zod";

const refund = tool({
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.string(), cents: z.number() }),
  needsApproval: ({ cents }) => cents > 1000,
  execute: ({ order, cents }, { toolCallId }) => `${order}: ${cents} cents are refunded, under the key ${toolCallId}`,
});

/** Serves a chat whose turns a model of any provider answers. */
export const serveChat = (file: string, model: ChatOptions["model"]) => {
  const chat = chatTool({ name: "chat", model, instructions: "You help with orders.", tools: { refund } });
  const { runtime, close } = openRuntime({ file, tools: [chat] });
  return { ...chatHandlers(runtime, { tool: chat }), close };
};
