/** A background run with cancel, crash and re-attach: wherever its process dies, and in all orders. */
import type { Json } from "@pawl/tool-value";
import { SessionWork, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { type Scenario, describeCrashes, exploreCrashes, exploreSchedules } from "../../src/index.ts";

const call = { id: "c1", tool: "ask", args: {} };

/** What a person sees of a run: how it ended. */
const endOf = (outcome: unknown): Json => {
  const { payload } = outcome as { readonly payload: { readonly state: string } };
  return payload.state;
};

const running = ({ isCanceled }: { readonly isCanceled: boolean }): Scenario => ({
  recovers: true,
  claims: { begun: "any", work: isCanceled ? "any" : "at_least_once" },
  tools: ({ effect }) => [
    defineTool({
      name: "work",
      durable: true,
      hints: { supports_background: true, idempotent: true },
      execute: async () => null,
      background: async (_, ctx, sink) => {
        await sink.status("begun");
        await effect("begun");
        await ctx.runJson("work", {}, () => effect("work").then(({ at }) => at > 0));
        return { summary: "worked", result: true };
      },
    }),
    defineTool({
      name: "ask",
      durable: true,
      execute: async (_, ctx) => {
        const spawned = await ctx.background.spawn({ tool: "work", args: {} });
        return spawned.status === "started" ? ctx.tasks.wait(spawned.task, 3_600_000) : spawned;
      },
    }),
  ],
  runtime: {
    host: {
      artifacts: async (): Promise<void> => undefined,
      tell: async (): Promise<void> => undefined,
    },
    options: { max_run_attempts: 9, resume_pauses_ms: Array.from({ length: 20 }, () => 0) },
  },
  host: async (host) => {
    const asked = host.call("r1", [call]);
    if (isCanceled) {
      await host.happened("begun");
      await host.within(async (session) => {
        const work = new SessionWork(async () => session.among.live);
        for (const { id } of await work.tasks()) await work.cancel(id);
      });
    }
    const [reply] = await asked;
    const again = await host.within((session) => new SessionWork(async () => session.among.live).tasks());
    if (again.length !== 1 || again[0]?.finished_at === undefined) throw new Error(JSON.stringify(again));
    return endOf(reply?.output.outcome);
  },
});

/** Pairs of deaths are many: some are tried. */
const some = { pairs: 40 };

describe("a background run", () => {
  it("is re-attached wherever its process dies, and ends once", async () => {
    const report = await exploreCrashes(running({ isCanceled: false }), some);
    expect(describeCrashes(report)).toContain("safe");
    expect(report.points).toBeGreaterThan(20);
  });

  it("that is asked to end comes to its end, wherever its process dies", async () => {
    const report = await exploreCrashes(running({ isCanceled: true }), some);
    expect(describeCrashes(report)).toContain("safe");
    expect(report.points).toBeGreaterThan(20);
  });

  it("succeeds or is canceled, by what comes first of what it does and what it is asked", async () => {
    const report = await exploreSchedules(running({ isCanceled: true }));
    expect(report).toMatchObject({ violations: [], isBounded: false });
    expect(new Set(report.results.map(({ result }) => result))).toEqual(new Set(["succeeded", "canceled"]));
  });
});
