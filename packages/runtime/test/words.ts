/** The words that tests of a runtime are told in. */
import { type Json, pending } from "@pawl/tool-value";
import { defineTool } from "../src/index.ts";

export const call = (tool: string, args: object = {}) => [{ label: "c1", tool, args: args as Json }];

export const payloads = (
  replies: readonly { readonly output: { readonly outcome: { readonly payload: unknown } } }[],
) => replies.map(({ output }) => output.outcome.payload);

/** Completes from outside. */
export const parks = defineTool({ name: "parks", execute: (_, ctx) => (ctx.completionKey(), pending()) });
export const naps = defineTool({
  name: "naps",
  durable: true,
  execute: async (_, ctx) => (await ctx.sleep(600_000), "rested"),
});
export const says = defineTool({ name: "says", durable: true, execute: async () => "hello" });
