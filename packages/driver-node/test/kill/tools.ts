/** Tools with every kind of work in which they may be killed. They record their effects outside. */
import { setTimeout as pause } from "node:timers/promises";
import { EffectError, type ToolContext, type ToolDefinition, defineTool } from "@pawl/runtime";
import { pending } from "@pawl/tool-value";
import type { Effects } from "./effects.ts";
import type { Fates } from "./fate.ts";

export interface Args {
  /** The call's name in the log, which identifies its effects. */
  readonly call: string;
  readonly n: number;
}

const isUnknown = (thrown: unknown): boolean => thrown instanceof EffectError && thrown.code === "step_outcome_unknown";

const tool = (name: string, execute: (args: Args, ctx: ToolContext) => unknown, more: Partial<ToolDefinition> = {}) =>
  defineTool({ name, durable: true, execute, ...more } as ToolDefinition<Args>);

export interface ToolPort {
  readonly effects: Effects;
  readonly fates: Fates;
  readonly instance: string;
  /** Delay of some steps before their effect. */
  readonly slowMs: number;
}

export const toolsOf = ({ effects, fates, instance, slowMs }: ToolPort): readonly ToolDefinition[] => {
  const tell = (ctx: ToolContext, call: string, key: string): void => {
    effects.tell({ scope: ctx.scope, call, key, instance, at: Date.now() });
    fates.at("after_effect");
  };
  const step = (ctx: ToolContext, call: string, name: string, recovery: "again" | "once" = "again") => {
    const perform = async (): Promise<string> => {
      if (name.endsWith("slow") && slowMs > 0) await pause(slowMs);
      tell(ctx, call, `durable-step:${name}`);
      return name;
    };
    return ctx.run(name, perform, { input: { name }, recovery });
  };

  return [
    tool("steps", async ({ call, n }, ctx) => {
      const results: unknown[] = [];
      for (let i = 0; i < n; i++) {
        results.push(await ctx.all([step(ctx, call, `left-${i}`), step(ctx, call, `right-${i}-slow`)]));
        await ctx.sleep(3);
      }
      return results;
    }),
    tool("once", async ({ call, n }, ctx) => {
      const results: string[] = [];
      for (let i = 0; i < n; i++) {
        try {
          results.push(await step(ctx, call, `once-${i}-slow`, "once"));
        } catch (thrown) {
          if (!isUnknown(thrown)) throw thrown;
          results.push("unknown");
        }
      }
      return results;
    }),
    tool("keyed", async ({ n }, ctx) => {
      const results: string[] = [];
      for (let i = 0; i < n; i++) {
        const perform = ({ key }: { readonly key: string }): string => {
          effects.serve(`${ctx.scope} ${key}`);
          fates.at("after_effect");
          return `served-${i}`;
        };
        results.push(await ctx.run(`keyed-${i}`, perform, { input: { i }, recovery: "idempotent" }));
      }
      return results;
    }),
    tool("heavy", async ({ call, n }, ctx) => {
      let size = 0;
      for (let i = 0; i < n; i++) {
        const perform = (): string => {
          tell(ctx, call, `durable-step:heavy-${i}`);
          return String(i).repeat(20_000);
        };
        size += (await ctx.run(`heavy-${i}`, perform, { input: { i } })).length;
      }
      return size;
    }),
    tool("waits", async ({ call }, ctx) => {
      const before = await step(ctx, call, "before");
      const heard = await ctx.waitFor("go");
      return [before, heard, await step(ctx, call, "after")];
    }),
    tool("asked", async ({ call, n }, ctx) => [n, await step(ctx, call, "approved")], { needsApproval: true }),
    tool("long", async ({ call }, ctx) => {
      await step(ctx, call, "begun");
      await ctx.sleep(3_600_000);
    }),
    tool("brief", async ({ n }, ctx) => {
      await ctx.sleep(20);
      return n;
    }),
    tool("crossed", async (_, { scope, processes, sleep }) => {
      const [own, other] = scope === "session:a" ? ["a", "b"] : ["b", "a"];
      const call = { call_id: "c", tool_id: "tool:works", tool_name: "works", args: {}, prepared_payload: null };
      await processes.start({ id: `of-${own}`, input: { type: "tool_call", call } });
      await processes.transferHandles(other, [`of-${own}`]);
      while ((await processes.listHandlesFiltered(({ id }) => id === `of-${other}`)).length === 0) await sleep(20);
      return processes.await(`of-${other}`);
    }),
    tool("works", async (_, ctx) => {
      await ctx.sleep(30);
      return step(ctx, ctx.scope, "worked");
    }),
    tool("outside", (_, ctx) => {
      ctx.completionKey();
      return pending({ on_cancel: "ignore" });
    }),
    tool(
      "bound",
      ({ call }, ctx) => {
        tell(ctx, call, "body");
        return "bound";
      },
      { durable: false },
    ),
  ];
};
