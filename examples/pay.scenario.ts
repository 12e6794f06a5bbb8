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
        const receipt = await ctx.run(
          "charge",
          async ({ key }) => {
            await effect("money moves", { key, ms: 40 });
            return { receipt: key };
          },
          { input: { amount: 500 } },
        );
        await ctx.run("mail", () => "sent", { input: { receipt } });
        return receipt;
      },
    }),
  ],
  host: callsOf({ label: "call-1", tool: "pay", args: {} }),
};
