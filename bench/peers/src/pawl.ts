/** pawl: a runtime over a journal file. A run is a call; concurrent calls have sessions of their own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { type Session, type ToolContext, defineTool } from "@pawl/runtime";
import { type System, pause, stepResult } from "./system.ts";

const stepsIn = async (ctx: ToolContext, count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await ctx.run(`step-${i}`, () => stepResult(i));
};

const stepsOf = (args: unknown): number => (args as { readonly steps: number }).steps;

const work = defineTool({
  name: "work",
  durable: true,
  execute: async (args, ctx) => {
    await stepsIn(ctx, stepsOf(args));
    return "done";
  },
});
const parks = defineTool({
  name: "parks",
  durable: true,
  execute: async (args, ctx) => {
    await stepsIn(ctx, stepsOf(args));
    await ctx.waitFor("go");
    await ctx.run("after", () => ({ ok: true }));
    return "resumed";
  },
});

const manifest = join(import.meta.dirname, "../../../packages/driver-node/package.json");
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string };

export const pawl = async (folder: string): Promise<System> => {
  const { runtime, close } = openRuntime({
    file: join(folder, "journal.db"),
    tools: [work, parks],
    linger: { ms: 50 },
    patience: { suspendMs: 20 },
  });
  const free: Session[] = [];
  let [sessions, requests, parked] = [0, 0, 0];

  const call = async (session: Session, tool: string, steps: number): Promise<void> => {
    const [reply] = await session.request(`r${(requests += 1)}`, [{ label: "c", tool, args: { steps } }]);
    if (reply?.output.outcome.status !== "success") throw new Error(`the call failed: ${JSON.stringify(reply)}`);
  };

  const leave = async (): Promise<void> => {
    while (runtime.inMemory > 0) await pause(5);
  };

  /** Parks one call and evicts its session. */
  const parkOne = async (id: string, steps: number): Promise<void> => {
    const session = await runtime.session(id);
    const calls = [{ label: "c", tool: "parks", args: { steps } }];
    await session.report({ type: "request.submitted", request: "r", hash: "0", calls });
  };

  const wake = async (id: string): Promise<void> => {
    const session = await runtime.session(id);
    const [wait] = session.state.waits.rows();
    await session.resolveById(wait?.key ?? "", { status: "ok", payload: null }, "bench");
    const [reply] = await session.replies("r");
    if (reply?.output.outcome.payload !== "resumed") throw new Error(`not resumed: ${JSON.stringify(reply)}`);
  };

  return {
    version,
    durability: "SQLite, WAL, synchronous FULL: one sync for all that waits, before any step begins",
    run: async (steps) => {
      const session = free.pop() ?? (await runtime.session(`run-${(sessions += 1)}`));
      await call(session, "work", steps);
      free.push(session);
    },
    resume: async (steps) => {
      const id = `resume-${(parked += 1)}`;
      await parkOne(id, steps);
      await leave();
      const start = performance.now();
      await wake(id);
      return performance.now() - start;
    },
    park: async (count) => {
      const wave = 50;
      for (let left = count; left > 0; left -= wave) {
        await Promise.all(Array.from({ length: Math.min(wave, left) }, () => parkOne(`park-${(parked += 1)}`, 1)));
        while (runtime.inMemory > 4 * wave) await pause(1);
      }
      await leave();
    },
    close,
  };
};
