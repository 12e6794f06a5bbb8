/** Processes that freeze until their lease has expired and wake after another one has taken over must do nothing. */
import { type ToolContext, defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { type Outside, type Scenario, callsOf, exploreCrashes, runScenario, simulate } from "../../src/index.ts";
// oxlint-disable-next-line import/no-unassigned-import -- it makes `toBeSafe` known
import "../../src/vitest.ts";

const runtime = { lease: { ttlMs: 9000 }, pollMs: 3000 };

const scenarioOf = (execute: (ctx: ToolContext, outside: Outside) => Promise<unknown>): Scenario => ({
  tools: (outside) => [defineTool({ name: "work", durable: true, execute: (_, ctx) => execute(ctx, outside) })],
  host: callsOf({ label: "c", tool: "work", args: {} }),
  runtime,
});

const steps = scenarioOf(async (ctx, { effect }) => {
  const paid: unknown[] = [];
  for (const name of ["first", "second"])
    paid.push(await ctx.run(name, ({ key }) => effect(name, { key }).then(() => name)));
  await ctx.sleep(500);
  return paid;
});

describe("a process that freezes beyond its lease", () => {
  it("does nothing when it wakes, at whichever append it froze", async () => {
    const report = await exploreCrashes(steps, { pairs: 20 });
    expect(report).toBeSafe();
    expect(report.frozen).toBeGreaterThan(5);
  });

  it("is followed by another one, and does not disturb it", async () => {
    const usual = await runScenario(steps);
    const moment = usual.moments.findIndex(
      ({ type, ...of }) => type === "append" && "when" in of && of.when === "after",
    );
    const outcome = await runScenario(steps, { director: (_, n) => (n === moment + 3 ? "frozen" : "live") });
    expect(outcome).toMatchObject({ ended: "done", result: usual.result });
    expect(outcome.deaths).toBe(1);
  });

  it("is one of the faults that a seed decides, if processes have a lease", async () => {
    const leased = await simulate(steps, { seeds: 30, faultsPerMille: 200 });
    expect(leased).toBeSafe();
    expect(leased.befallen.frozen).toBeGreaterThan(0);
    const { runtime: _, ...free } = steps;
    expect((await simulate(free, { seeds: 10, faultsPerMille: 200 })).befallen.frozen).toBeUndefined();
  });
});
