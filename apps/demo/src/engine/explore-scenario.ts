/** The scenario for the explorers: one tool that charges a card, in a careful and two other versions. */
import { defineTool } from "@pawl/runtime";
import { type Scenario, callsOf } from "@pawl/testkit";

export type Care = "with_key" | "careless" | "once";

/** The body of each version, as the scene shows it. */
export const code: { readonly [C in Care]: string } = {
  with_key: `await ctx.run("charge",
  (input, { key }) => bank.charge(input, key));
await ctx.run("receipt", mail);`,
  careless: `await ctx.run("charge",
  (input) => bank.charge(input));
await ctx.run("receipt", mail);`,
  once: `await ctx.run("charge",
  (input) => bank.charge(input), { recovery: "once" });
await ctx.run("receipt", mail);`,
};

const chargeMs = 40;

export const scenarioOf = (care: Care): Scenario => ({
  tools: ({ effect }) => [
    defineTool({
      name: "charge",
      durable: true,
      execute: async (_, ctx) => {
        const recovery = care === "once" ? "once" : "again";
        await ctx.run(
          "charge",
          async ({ key }) => {
            await effect("money moves", { ms: chargeMs, ...(care === "with_key" && { key }) });
            return "charged";
          },
          { input: { amount: 500 }, recovery },
        );
        await ctx.run("receipt", () => "sent");
        return "paid";
      },
    }),
  ],
  host: callsOf({ label: "a", tool: "charge", args: {} }, { label: "b", tool: "charge", args: {} }),
  ...(care === "once" && { claims: { "money moves": "at_most_once" } }),
});
