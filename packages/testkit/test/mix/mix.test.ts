import { describe, expect, it } from "vitest";
import { describeMixes, mixCoverage, mixFaults, runMix, runMixes } from "../../src/index.ts";

/** `pnpm mix` runs 10,000 of them. */
const seeds = 300;

describe("the standard mix", () => {
  const report = runMixes({ seeds });

  it(`keeps every invariant and comes to rest under ${seeds} seeds`, () => {
    expect(report.failure === undefined ? "" : describeMixes(report)).toBe("");
    expect(report.seeds).toBe(seeds);
  });

  it("has at least 200 events a seed, crashes, and every fault", () => {
    expect(report.fewest).toBeGreaterThanOrEqual(200);
    expect(report.crashes).toBeGreaterThan(seeds);
    expect(mixFaults.filter((fault) => !report.coverage.faults.has(fault))).toEqual([]);
  });

  it("comes to 95 % of the events and of the rejections, and to every command", () => {
    const { events, rejections, commands, leftOut } = mixCoverage(report.coverage);
    expect(events.met / events.all).toBeGreaterThanOrEqual(0.95);
    expect(rejections.met / rejections.all).toBeGreaterThanOrEqual(0.95);
    expect(commands.missed).toEqual([]);
    expect([...leftOut.keys()]).toEqual(["scope.upgraded"]);
  });

  it("is decided by its seed alone", () => {
    const [once, again, other] = [runMix(7), runMix(7), runMix(8)];
    expect(again.logs).toEqual(once.logs);
    expect(other.logs).not.toEqual(once.logs);
  });

  it("says of a report how much it covered, and what it left out", () => {
    const text = describeMixes(runMixes({ seed: 3, seeds: 2 }));
    expect(text).toMatch(/^2 seeds, \d+ events \(\d+ in the shortest\), \d+ crashes\n/);
    expect(text).toMatch(/event types: \d+ of \d+, [\d.]+ %/);
    expect(text).toContain("left out: scope.upgraded:");
    expect(text).toContain("nothing is wrong");
  });
});
