/** A session of the Claude Agent SDK: it survives crashes, and a refund waits for a person. */
import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import { claudeSession } from "@pawl/claude-agent";
import { type Runtime, defineTool } from "@pawl/runtime";
import { z } from "zod";

const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.string(), cents: z.number() }),
  durable: true,
  execute: async ({ order, cents }, ctx) => {
    const { approved } = await ctx.approve({ title: `refund ${order}`, args: { cents } });
    return approved ? `${order}: ${cents} cents are refunded` : `${order}: a person has denied the refund`;
  },
});

/** Answers a text. After a crash, call it again with the same text: it goes on where it stood. */
export const answer = async (runtime: Runtime, chat: string, text: string, more: Options = {}): Promise<string> => {
  const claude = await claudeSession(runtime, chat, { tools: [refund] });
  const options = { ...more, ...claude.options };
  for await (const message of query({ prompt: claude.prompt(text), options }))
    if (message.type === "result") return message.subtype === "success" ? message.result : message.subtype;
  return "";
};
