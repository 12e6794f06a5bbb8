/** The research agent's own tools: a long background job with progress, and a tool that needs approval. */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ToolDefinition, defineTool } from "@pawl/runtime";

const chapters = 8;

/** Indexes chapters. Each is a step: a recorded one is not read again. */
const indexPages = (folder: string, chapterMs: number): ToolDefinition =>
  defineTool<{ readonly pages: readonly string[] }>({
    name: "index_pages",
    title: "Index Pages",
    durable: true,
    idempotent: true,
    execute: async () => "this tool runs in the background",
    background: async ({ pages }, ctx, sink) => {
      await sink.status("reading");
      for (let chapter = 1; chapter <= chapters; chapter++) {
        await ctx.run(
          `chapter ${chapter}`,
          async () => {
            await pause(chapterMs);
            appendFileSync(join(folder, "chapters.txt"), `${chapter}\n`);
            return chapter;
          },
          { input: { pages } },
        );
        await sink.progress({ current: chapter, total: chapters, unit: "chapters" });
        await sink.output("stdout", `chapter ${chapter} of ${pages.length} pages\n`);
      }
      return { summary: `${chapters} chapters of ${pages.length} pages`, result: { pages, chapters } };
    },
  });

/** Publishes a text. It cannot be taken back, so it needs approval. */
const publish = (folder: string): ToolDefinition =>
  defineTool<{ readonly text: string }>({
    name: "publish",
    title: "Publish",
    durable: true,
    needsApproval: true,
    execute: ({ text }, ctx) =>
      ctx.run(
        "publish",
        ({ key }) => {
          const file = join(folder, `published-${encodeURIComponent(key)}.txt`);
          if (!existsSync(file)) writeFileSync(file, text, { flag: "wx" });
          return { published: text };
        },
        { input: { text } },
      ),
  });

export const researchTools = (folder: string, chapterMs: number): readonly ToolDefinition[] => [
  indexPages(folder, chapterMs),
  publish(folder),
];
