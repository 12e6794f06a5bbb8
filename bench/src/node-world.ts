/** A runtime over its own journal file, with the tools that the figures run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { type Runtime, type Session, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import { Floor } from "./node-floor.ts";

const text = "a result as a tool gives it back, with a few fields and a line of prose to read";

/** One step of a body, with realistic input and result. */
export const stepOf = (ctx: ToolContext, n: number): Promise<unknown> => {
  const input = { customer: "c-4711", order: `o-${n}`, amount: 1999, note: "as agreed on the phone" };
  const value = { id: n, text, ok: true, state: "shipped", items: [1, 2, 3] };
  return ctx.run(`step-${n}`, () => value, { input: input });
};

/** A body with as many steps as its arguments say. */
export const stepping = (definition: Partial<ToolDefinition>, onStep: (n: number) => unknown = () => undefined) =>
  defineTool({
    name: "work",
    ...definition,
    execute: async (args, ctx) => {
      const { steps } = args as { readonly steps: number };
      for (let n = 0; n < steps; n++) {
        await stepOf(ctx, n);
        await onStep(n);
      }
      return text;
    },
  });

export interface World {
  readonly runtime: Runtime;
  readonly floor: Floor;
  readonly close: () => Promise<void>;
}

export const folder = (): string => mkdtempSync(join(tmpdir(), "pawl-bench-"));

export const openWorld = (tools: readonly ToolDefinition[]): World => {
  const at = folder();
  const { runtime, close } = openRuntime({ file: join(at, "journal.db"), tools });
  const floor = new Floor(at);
  return {
    runtime,
    floor,
    close: async () => {
      await close();
      floor.close();
      rmSync(at, { recursive: true });
    },
  };
};

let requests = 0;

/** Makes one call, from its submission to its reply. */
export const callOf = async (session: Session, steps: number, tool = "work"): Promise<void> => {
  const [reply] = await session.request(`r${(requests += 1)}`, [{ label: "c", tool, args: { steps } }]);
  if (reply?.output.outcome.status !== "success") throw new Error(`the call failed: ${JSON.stringify(reply)}`);
};

/** Returns the microseconds that it takes. */
export const spentUs = async (run: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await run();
  return (performance.now() - start) * 1000;
};
