/** The tools of this host. Each does its outside work in steps, under a key that outlives the process. */
import { defineTool } from "@pawl/runtime";

/** The world outside. With a key, a service does the work of that key once. */
export interface Services {
  readonly pay: (order: string, cents: number, key: string) => Promise<string>;
  readonly mail: (text: string, key: string) => Promise<void>;
}

export const refundTool = ({ pay, mail }: Services) =>
  defineTool({
    name: "refund",
    description: "Refunds an order.",
    inputSchema: {
      type: "object",
      properties: { order: { type: "string" }, cents: { type: "integer", minimum: 1 } },
      required: ["order", "cents"],
    } as const,
    durable: true,
    needsApproval: ({ cents }) => cents > 1000,
    execute: async ({ order, cents }, ctx) => {
      const receipt = await ctx.run("pay", ({ key }) => pay(order, cents, key));
      await ctx.run("mail", ({ key }) => mail(`Your refund: ${receipt}`, key));
      return receipt;
    },
  });

/** Replace these by your services. */
const services: Services = {
  pay: async (order, cents, key) => `${cents} cents for ${order}, under ${key}`,
  mail: async (text) => console.log(text),
};

export const tools = [refundTool(services)];
