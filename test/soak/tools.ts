/** Further tools of a soak's host: background work, and messages between scopes. */
import { type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import { setTimeout as pause } from "node:timers/promises";
import type { Effects } from "../../packages/driver-node/test/kill/effects.ts";

export interface SoakToolPort {
  readonly effects: Effects;
  readonly instance: string;
}

const chapters = 3;

/** The name of a process's call in its log. */
const callOf = ({ scope, toolCallId }: ToolContext): string => `${scope.replace("process:", "")}:${toolCallId}`;

/** Each chapter is a step. A run that lost its host starts its next attempt. */
const job = ({ effects, instance }: SoakToolPort): ToolDefinition =>
  defineTool<{ readonly name: string }>({
    name: "job",
    durable: true,
    idempotent: true,
    execute: async () => "run me in the background",
    background: async ({ name }, ctx, sink) => {
      for (let chapter = 1; chapter <= chapters; chapter++) {
        await ctx.run(
          `chapter-${chapter}`,
          async () => {
            await pause(20);
            const key = `durable-step:chapter-${chapter}`;
            effects.tell({ scope: ctx.scope, call: callOf(ctx), key, instance, at: Date.now() });
            return chapter;
          },
          { input: { name } },
        );
        await sink.progress({ current: chapter, total: chapters });
      }
      return { summary: name, result: { chapters } };
    },
  });

/** The work of a process that another scope awaits. */
const errand = ({ effects, instance }: SoakToolPort): ToolDefinition =>
  defineTool({
    name: "errand",
    durable: true,
    execute: async (_, ctx) => {
      await ctx.sleep(30);
      return ctx.run("done", () => {
        const key = "durable-step:done";
        effects.tell({ scope: ctx.scope, call: callOf(ctx), key, instance, at: Date.now() });
        return "done";
      });
    },
  });

/** Starts an errand in a process, shows it to a partner, then awaits its own and the partner's. */
const meet = defineTool<{ readonly own: string; readonly partner: string }>({
  name: "meet",
  durable: true,
  execute: async ({ own, partner }, { processes, sleep }) => {
    const call = { call_id: "c", tool_id: "tool:errand", tool_name: "errand", args: {}, prepared_payload: null };
    await processes.start({ id: `of-${own}`, input: { type: "tool_call", call } });
    await processes.transferHandles(partner, [`of-${own}`]);
    const theirs = `of-${partner}`;
    while ((await processes.listHandlesFiltered(({ id }) => id === theirs)).length === 0) await sleep(50);
    const ends = [await processes.await(`of-${own}`), await processes.await(theirs)];
    return ends.map(({ type }) => type);
  },
});

/** The tool of the flows. */
const turn = defineTool({
  name: "turn",
  readOnly: true,
  idempotent: true,
  execute: (args) => `<${String(args)}>`,
});

export const soakTools = (port: SoakToolPort): readonly ToolDefinition[] => [job(port), errand(port), meet, turn];
