/** The tool of both releases. */
import { type ToolContext, defineTool } from "@pawl/runtime";

/** Takes a step, waits for a word, and takes another. */
export const walks = defineTool({
  name: "walks",
  durable: true,
  execute: async (_, ctx: ToolContext) => [
    await ctx.run("before", () => "before"),
    await ctx.waitFor("go"),
    await ctx.run("after", () => "after"),
  ],
});
