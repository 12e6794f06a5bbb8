/** A background run with cancel, crash and re-attach, under crashes at each moment and in all orders. */
import type { Json } from "@pawl/tool-value";
import { SessionWork, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import {
  type Scenario,
  type ScheduleReport,
  describeCrashes,
  exploreCrashes,
  exploreSchedules,
} from "../../src/index.ts";

const call = { label: "c1", tool: "ask", args: {} };

/** Returns a run's end as a person sees it. */
const endOf = (outcome: unknown): Json => {
  const { payload } = outcome as { readonly payload: { readonly state: string; readonly error?: { message: string } } };
  return payload.error === undefined ? payload.state : `${payload.state}: ${payload.error.message}`;
};

interface Kind {
  readonly isCanceled: boolean;
  /** Without it the run may not start again after a loss. */
  readonly isIdempotent?: boolean;
}

const running = ({ isCanceled, isIdempotent = true }: Kind): Scenario => ({
  recovers: true,
  claims: isIdempotent
    ? { begun: "any", work: isCanceled ? "any" : "at_least_once" }
    : { begun: "at_most_once", work: "at_most_once" },
  tools: ({ effect }) => [
    defineTool({
      name: "work",
      durable: isIdempotent,
      idempotent: isIdempotent,
      execute: async () => null,
      background: async (_, ctx, sink) => {
        await sink.status("begun");
        await effect("begun");
        const work = (): Promise<boolean> => effect("work").then(({ at }) => at > 0);
        await (isIdempotent ? ctx.run("work", work) : work());
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
    options: { crashPausesMs: [] },
  },
  host: async (host) => {
    const asked = host.request("r1", [call]);
    if (isCanceled) {
      await Promise.race([host.happened("begun"), asked]); // A run that is lost before its start is over.
      await host.within(async (session) => {
        const work = new SessionWork(async () => session.scopeLinks.live);
        for (const { id } of await work.tasks()) await work.cancel(id);
      });
    }
    const [reply] = await asked;
    const again = await host.within((session) => new SessionWork(async () => session.scopeLinks.live).tasks());
    if (again.length !== 1 || again[0]?.finished_at === undefined) throw new Error(JSON.stringify(again));
    return endOf(reply?.output.outcome);
  },
});

/** There are many pairs of crashes; some are tried. */
const some = { pairs: 40 };

/** Explores all orders for each moment at which the process dies. Moments after the last one kill nobody. */
const everyDeath = async (scenario: Scenario, moments: number): Promise<readonly ScheduleReport[]> => {
  const reports: ScheduleReport[] = [];
  for (let death = 1; death <= moments; death++) {
    reports.push(await exploreSchedules(scenario, { director: (_, n) => (n === death ? "die" : "live") }));
  }
  return reports;
};

const summaryOf = (reports: readonly ScheduleReport[]) => ({
  orders: reports.reduce((sum, { orders }) => sum + orders, 0),
  bounded: reports.filter(({ isBounded }) => isBounded).length,
  violations: reports.flatMap(({ violations }) => violations),
  results: new Set(reports.flatMap(({ results }) => results.map(({ result }) => result))),
});

/** More than the longest order has. */
const moments = 60;

describe("a background run", () => {
  it("is re-attached at every crash, and ends once", async () => {
    const report = await exploreCrashes(running({ isCanceled: false }), some);
    expect(describeCrashes(report)).toContain("safe");
    expect(report.points).toBeGreaterThan(20);
  });

  it("that is asked to end does so at every crash", async () => {
    const report = await exploreCrashes(running({ isCanceled: true }), some);
    expect(describeCrashes(report)).toContain("safe");
    expect(report.points).toBeGreaterThan(20);
  });

  it("succeeds or is cancelled, whichever comes first", async () => {
    const report = await exploreSchedules(running({ isCanceled: true }));
    expect(report).toMatchObject({ violations: [], isBounded: false });
    expect(new Set(report.results.map(({ result }) => result))).toEqual(new Set(["succeeded", "canceled"]));
  });

  it("that is asked to end ends once in all orders, at every crash", async () => {
    const { orders, ...found } = summaryOf(await everyDeath(running({ isCanceled: true }), moments));
    expect(found).toEqual({ bounded: 0, violations: [], results: new Set(["succeeded", "canceled"]) });
    expect(orders).toBeGreaterThan(4 * moments);
  }, 120_000);

  it("that may not restart says so in all orders, at every crash", async () => {
    const lost = running({ isCanceled: true, isIdempotent: false });
    const { orders, ...found } = summaryOf(await everyDeath(lost, moments));
    const results = new Set(["succeeded", "canceled", "failed: worker heartbeat stopped"]);
    expect(found).toEqual({ bounded: 0, violations: [], results });
    expect(orders).toBeGreaterThan(2 * moments);
  }, 120_000);
});
