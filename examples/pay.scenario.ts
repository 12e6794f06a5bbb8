/** A scenario for the explorers, with a tool that charges a card: `pnpm pawl explore examples/pay.scenario.ts`. */
import { defineTool } from "@pawl/runtime";
import { type Scenario, callsOf } from "@pawl/testkit";

/** The outside service takes the step's key, so that a repeated charge moves the money once. */
export const pay: Scenario = {
  tools: ({ effect }) => [
    defineTool({
      name: "pay",
      durable: true,
      execute: async (_, ctx) => {
        const receipt = await ctx.runJson("charge", { amount: 500 }, async (_input, { key }) => {
          await effect("money moves", { key, ms: 40 });
          return { receipt: key };
        });
        await ctx.runJson("mail", { receipt }, () => "sent");
        return receipt;
      },
    }),
  ],
  host: callsOf({ label: "call-1", tool: "pay", args: {} }),
};
