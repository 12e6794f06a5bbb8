/** Background tools of every kind of recovery. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import type { Fates } from "./fate.ts";
import type { Outside } from "./outside.ts";

const hints = { supports_background: true, idempotent: true };
const inBackground = async (): Promise<string> => "run me in the background";
const steps = 3;

/** Resumes where it was: each step runs again only while it is not recorded, and leaves its own mark. */
const index = (outside: Outside, fates: Fates): ToolDefinition =>
  defineTool({
    name: "index",
    durable: true,
    manifest: { hints },
    execute: inBackground,
    background: async (_, ctx, sink) => {
      fates.at("start", "before");
      await sink.status("indexing");
      fates.at("start", "after");
      for (let step = 1; step <= steps; step++) {
        await ctx.run(`step ${step}`, () =>
          fates.around("step", async () => {
            const mark = randomUUID();
            outside.note("marks", mark);
            await pause(15);
            return mark;
          }),
        );
        await sink.progress({ current: step, total: steps, unit: "steps" });
        await sink.output("stdout", `step ${step}\n`);
      }
      return { summary: "indexed", result: { steps } };
    },
  });

/** Does something that must not be repeated, so it may not restart. */
const mail = (outside: Outside): ToolDefinition =>
  defineTool<{ readonly life: number }>({
    name: "mail",
    execute: inBackground,
    background: async ({ life }, _, sink) => {
      await sink.output("stdout", "mailing\n");
      outside.note("mails", `${life}`);
      await pause(20);
      return { summary: "mailed", result: "sent" };
    },
  });

/** Runs until it is told to end, and calls that a success. */
const endless = defineTool({
  name: "endless",
  manifest: { hints },
  execute: inBackground,
  background: async (_, { signal }, sink) => {
    await sink.output("stdout", "begun\n");
    if (!signal.aborted) {
      await new Promise<void>((resolve) => void signal.addEventListener("abort", () => resolve(), { once: true }));
    }
    return { summary: "stopped as told", result: "stopped" };
  },
});

export const toolsOf = (outside: Outside, fates: Fates): readonly ToolDefinition[] => [
  index(outside, fates),
  mail(outside),
  endless,
];
