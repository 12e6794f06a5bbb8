/** Kills hosts with SIGKILL at random moments and named points, while agents work with them. */
import { describe, expect, it } from "vitest";
import { points } from "./fate.ts";
import { type KillReport, runKills } from "./run.ts";

const kills = 100;

describe("hosts that are killed", () => {
  it("lose nothing acknowledged, do nothing twice, and answer as an undisturbed host", async () => {
    const seeds = [1, 2];
    const reports = await Promise.all(seeds.map((seed) => runKills({ kills, seed })));
    for (const [i, { wrong, folder }] of reports.entries()) expect(wrong, `seed ${seeds[i]}, in ${folder}`).toEqual([]);
    const sum = (of: (report: KillReport) => number): number => reports.reduce((all, one) => all + of(one), 0);
    expect(sum((report) => report.kills)).toBe(200);
    expect(sum(({ steps }) => steps)).toBeGreaterThan(40);
    const missed = points.filter((point) => sum(({ at }) => at[point] ?? 0) === 0);
    expect(missed, "points at which nobody died").toEqual([]);
  }, 600_000);
});
