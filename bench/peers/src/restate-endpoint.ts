/** The programs of the Restate peer, in a process of their own. `PORT` sets the port. */
import * as restate from "@restatedev/restate-sdk";
import { collect, stepResult } from "./system.ts";

const stepsIn = async (ctx: restate.Context, count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await ctx.run(`step-${i}`, () => stepResult(i));
};

/** Awakeables of parked runs, by the runs' names. */
const awakeables = new Map<string, string>();

const bench = restate.service({
  name: "bench",
  handlers: {
    work: async (ctx: restate.Context, steps: number) => {
      await stepsIn(ctx, steps);
      return "done";
    },
    parks: restate.handlers.handler(
      { inactivityTimeout: 100 },
      async (ctx: restate.Context, { steps, name }: { readonly steps: number; readonly name: string }) => {
        await stepsIn(ctx, steps);
        const { id, promise } = ctx.awakeable();
        await ctx.run("tell", () => void awakeables.set(name, id));
        await promise;
        await ctx.run("after", () => ({ ok: true }));
        return "resumed";
      },
    ),
    awakeable: async (_: restate.Context, name: string) => awakeables.get(name) ?? null,
    collect: async () => collect(),
  },
});

await restate.serve({ services: [bench], port: Number(process.env["PORT"]) });
