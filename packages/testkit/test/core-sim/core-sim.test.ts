import { beforeAll, describe, expect, it } from "vitest";
import {
  type CoreSimReport,
  describeCoreSims,
  coreSimCoverage,
  coreSimFaults,
  runCoreSim,
  runCoreSims,
} from "../../src/core-sim/index.ts";
import { runJobs } from "./jobs.ts";

const seeds = 5000;

describe("the core simulation", () => {
  let report: CoreSimReport;
  beforeAll(async () => {
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    report = await runJobs({ seeds, jobs: 2 });
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const { user, system } = process.cpuUsage(cpu);
    const busy = ((user + system) / 1e6).toFixed(0);
    console.log(`the core simulation, in ${seconds} s (${busy} s of CPU): ${describeCoreSims(report)}`);
  }, 1_800_000);

  it(`keeps every invariant and comes to rest under ${seeds} seeds`, () => {
    expect(report.failure === undefined ? "" : describeCoreSims(report)).toBe("");
    expect(report.seeds).toBe(seeds);
  });

  it("has at least 200 events for each seed, crashes, and every fault", () => {
    expect(report.fewest).toBeGreaterThanOrEqual(200);
    expect(report.crashes).toBeGreaterThan(seeds);
    expect(coreSimFaults.filter((fault) => !report.coverage.faults.has(fault))).toEqual([]);
  });

  it("covers 95 % of the events and of the rejections, and every command", () => {
    const { events, rejections, commands, leftOut } = coreSimCoverage(report.coverage);
    expect(events.met / events.all).toBeGreaterThanOrEqual(0.95);
    expect(rejections.met / rejections.all).toBeGreaterThanOrEqual(0.95);
    expect(commands.missed).toEqual([]);
    expect([...leftOut]).toEqual([]);
  });

  it("is decided by its seed alone", () => {
    const [once, again, other] = [runCoreSim(7), runCoreSim(7), runCoreSim(8)];
    expect(again.logs).toEqual(once.logs);
    expect(other.logs).not.toEqual(once.logs);
  });

  it("deploys versions that some programs cannot go on with, rolls them back, and tells bodies of patches", () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 400; seed++)
      for (const log of runCoreSim(seed, { protocol: 2 }).logs.values())
        for (const { event } of log) {
          for (const field of ["versions", "version", "patched"])
            if (field in event) seen.add(`${event.type} ${field}`);
          if (event.type === "call.resumed") seen.add(event.cause);
        }
    expect([...seen]).toEqual(
      expect.arrayContaining([
        "scope.opened versions",
        "scope.received versions",
        "catalog.published versions",
        "executors.available versions",
        "call.resumed version",
        "call.diverged version",
        "other_version",
        "effect.requested patched",
        "effect.reused patched",
        "call.settled patched",
      ]),
    );
  });

  it("has the same result on one core and on several", async () => {
    const [alone, spread] = [runCoreSims({ seed: 5, seeds: 300 }), await runJobs({ seed: 5, seeds: 300, jobs: 3 })];
    expect(describeCoreSims(spread).split("\n").toSorted()).toEqual(describeCoreSims(alone).split("\n").toSorted());
  });

  it("reports its coverage, and what it left out", () => {
    const text = describeCoreSims(runCoreSims({ seed: 3, seeds: 2 }));
    expect(text).toMatch(/^2 seeds, \d+ events \(\d+ in the shortest\), \d+ crashes\n/);
    expect(text).toMatch(/event types: \d+ of \d+, [\d.]+ %/);
    expect(text).toContain("nothing is wrong");
  });
});
