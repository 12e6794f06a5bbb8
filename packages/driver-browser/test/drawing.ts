/** A tool of both places that puts bytes, and names them by their hash alone. */
import { defineTool } from "@pawl/runtime";

export const drawing = defineTool<{ readonly text: string }>({
  name: "draw",
  durable: true,
  execute: async ({ text }, ctx) => {
    const { id } = await ctx.attachments.put(new TextEncoder().encode(text), {
      media_type: { kind: "file", type: "text/plain" },
    });
    return id;
  },
});
