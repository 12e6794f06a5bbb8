/** The tool of the agent. It does its outside work in a step, under a key that outlives the process. */
import { defineTool } from "@pawl/runtime";

/** Moves money once for a key, as payment services with idempotency keys do. */
export type Pay = (order: string, cents: number, key: string) => Promise<string>;

export const refundTool = (pay: Pay) =>
  defineTool({
    name: "refund",
    description: "Refunds an order.",
    inputSchema: {
      type: "object",
      properties: { order: { type: "string" }, cents: { type: "integer", minimum: 1 } },
      required: ["order", "cents"],
    } as const,
    durable: true,
    execute: ({ order, cents }, ctx) => ctx.run("pay", ({ key }) => pay(order, cents, key)),
  });
