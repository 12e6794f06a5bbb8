/** The soak for 20 seconds; `pnpm soak` runs longer. */
import { describe, expect, it } from "vitest";
import { soak } from "./run.ts";
import { riseOf } from "./slope.ts";
import { verdictsOf } from "./verdict.ts";

describe("two hosts on one file", () => {
  it("lose nothing under mixed load while one or the other is killed with SIGKILL, and come to rest", async () => {
    const report = await soak({ seconds: 20, killEverySeconds: 6, seed: 1, customers: 1 });
    expect(report.wrong, `in ${report.folder}`).toEqual([]);
    expect(report.kills).toBeGreaterThan(0);
    expect(report.steps).toBeGreaterThan(0);
  }, 400_000);
});

describe("what is weighed", () => {
  const samples = Array.from({ length: 61 }, (_, at) => ({ at, value: at < 30 ? 1000 * at : 30_000 + 2 * at }));

  it("rises by what the line through its second half says", () => {
    expect(riseOf(samples)).toBeCloseTo(60);
    expect(riseOf([])).toBe(0);
  });

  it("is too much where it rises by more than it may", () => {
    const flat = samples.map(({ at }) => ({ at, value: 1 }));
    const heap = samples.map(({ at, value }) => ({ at, value: value * 1e6 }));
    const verdicts = verdictsOf({ heap, resident: flat, file: flat, begun: flat });
    expect(verdicts.map(({ rise, most }) => rise > most)).toEqual([true, false, false]);
  });
});
