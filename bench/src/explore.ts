/** Crash moments that are tried per second, over the scenario of the README. */
import { defineTool } from "@pawl/runtime";
import { type CrashReport, type Scenario, exploreCrashes, runScenario } from "@pawl/testkit";
import type { Figure, Measurement } from "./figure.ts";

/** `book_trip`: reserves a seat, waits days for an approval, charges a card. */
const trip: Scenario = {
  tools: ({ effect }) => [
    defineTool<{ readonly to: string }>({
      name: "book_trip",
      durable: true,
      execute: async ({ to }, ctx) => {
        const seat = await ctx.run(
          "reserve",
          async ({ key }) => {
            await effect("reserve", { key, detail: ctx.token("approved"), ms: 40 });
            return key;
          },
          { input: { to } },
        );
        await ctx.waitFor("approved");
        return ctx.run("charge", async ({ key }) => (await effect("charge", { key, ms: 40 })).effect, {
          input: { seat },
        });
      },
    }),
  ],
  host: async (host) => {
    const called = host.request("turn-1", [{ label: "call-1", tool: "book_trip", args: { to: "Lviv" } }]);
    const { detail } = await host.happened("reserve");
    await host.sleep(3 * 86_400_000);
    await host.once((session) => session.resolve(String(detail), { status: "ok", payload: true }), { as: "approve" });
    return called;
  },
};

const pairs = 60;
const calmRuns = 20;

const explored = async (): Promise<CrashReport> => {
  const report = await exploreCrashes(trip, { pairs });
  if (!report.isSafe) throw new Error(report.violations[0]?.message ?? "not safe");
  return report;
};

/** A run that dies, and one that does not. */
const round = async (): Promise<Measurement> => {
  const start = performance.now();
  for (let i = 0; i < calmRuns; i++) await runScenario(trip);
  const between = performance.now();
  const report = await explored();
  const runs = report.points + report.pairs;
  return { value: (performance.now() - between) / runs, floor: (between - start) / calmRuns };
};

export const exploreFigures: readonly Figure[] = [
  {
    name: "explore.crash",
    what: "a crash point of the README's scenario, relative to a run that nothing disturbs",
    unit: "ms",
    bound: 4,
    note: ({ value }) => `${(1000 / value).toFixed(0)} crash points a second`,
    rounds: 5,
    round,
  },
];
