/** An agent of the OpenAI Agents SDK as a durable tool: it survives crashes, and a refund waits for a person. */
import { Agent, type ModelProvider, Runner, tool } from "@openai/agents";
import { DurableSession, durableProvider, durableTools, runUntilDone } from "@pawl/openai-agents";
import { defineTool } from "@pawl/runtime";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Refunds an order.",
  parameters: z.object({ order: z.string(), cents: z.number() }),
  needsApproval: async (_, { cents }) => cents > 1000,
  execute: ({ order, cents }) => `${order}: ${cents} cents are refunded`,
});

/** Defines the tool. Without a provider it asks the models of OpenAI. */
export const supportBy = (provider?: ModelProvider) =>
  defineTool({
    name: "support",
    inputSchema: z.object({ prompt: z.string() }),
    durable: true,
    execute: ({ prompt }, ctx) => {
      const runner = new Runner({ modelProvider: durableProvider(ctx, provider) });
      const agent = new Agent({ name: "support", instructions: "You help.", tools: durableTools(ctx, [refund]) });
      return runUntilDone(ctx, runner, agent, prompt, { session: new DurableSession(ctx) });
    },
  });
