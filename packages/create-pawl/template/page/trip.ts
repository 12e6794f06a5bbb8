/** The tool of the page. It does its outside work in steps, under keys that outlive the tab. */
import { defineTool } from "@pawl/runtime";

/** Books a thing once for a key. */
export type Book = (what: string, key: string) => Promise<string>;

export const tripTool = (book: Book) =>
  defineTool({
    name: "book_trip",
    durable: true,
    execute: async (_, ctx) => [
      await ctx.run("train", ({ key }) => book("train", key)),
      await ctx.run("hotel", ({ key }) => book("hotel", key)),
      await ctx.run("museum", ({ key }) => book("museum", key)),
    ],
  });
