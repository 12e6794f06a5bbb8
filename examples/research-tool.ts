/** The tools of the research agent that are its own: a long job that reports, and a deed that a person has to approve. */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ToolDefinition, defineTool } from "@pawl/runtime";

const chapters = 8;

/** Each chapter is a step: one that is on record is not read again. */
const indexPages = (folder: string, chapterMs: number): ToolDefinition =>
  defineTool<{ readonly pages: readonly string[] }>({
    name: "index_pages",
    display_name: "Index Pages",
    durable: true,
    hints: { supports_background: true, idempotent: true },
    execute: async () => "run me in the background",
    background: async ({ pages }, ctx, sink) => {
      await sink.status("reading");
      for (let chapter = 1; chapter <= chapters; chapter++) {
        await ctx.runJson(`chapter ${chapter}`, { pages }, async () => {
          await pause(chapterMs);
          appendFileSync(join(folder, "chapters.txt"), `${chapter}\n`);
          return chapter;
        });
        await sink.progress({ current: chapter, total: chapters, unit: "chapters" });
        await sink.output("stdout", `chapter ${chapter} of ${pages.length} pages\n`);
      }
      return { summary: `${chapters} chapters of ${pages.length} pages`, result: { pages, chapters } };
    },
  });

/** What is published can not be taken back: a person looks first. */
const publish = (folder: string): ToolDefinition =>
  defineTool<{ readonly text: string }>({
    name: "publish",
    display_name: "Publish",
    durable: true,
    policy: "requires_approval",
    execute: ({ text }, ctx) =>
      ctx.runJson("publish", { text }, (_, { key }) => {
        const file = join(folder, `published-${encodeURIComponent(key)}.txt`);
        if (!existsSync(file)) writeFileSync(file, text, { flag: "wx" });
        return { published: text };
      }),
  });

export const researchTools = (folder: string, chapterMs: number): readonly ToolDefinition[] => [
  indexPages(folder, chapterMs),
  publish(folder),
];
