/** Kills hosts with SIGKILL at every named point of background runs and schedules. */
import { describe, expect, it } from "vitest";
import { places } from "./fate.ts";
import { runKills } from "./run.ts";

const seeds = [0, 1, 2, 3];

describe("background runs of hosts that are killed with SIGKILL", () => {
  it("end once, re-attached or as orphans with a reason, and repeat none of their effects", async () => {
    const reports = await Promise.all(seeds.map(runKills));
    expect(reports.flatMap(({ wrong, folder }) => wrong.map((one) => `${folder}: ${one}`))).toEqual([]);
    const met = new Set(reports.flatMap(({ at }) => [...at.keys()]));
    const missed = places.map(({ when, point }) => `${when} ${point}`).filter((place) => !met.has(place));
    expect(missed, "places at which nobody died").toEqual([]);
    expect(reports.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThanOrEqual(60);
  }, 1_200_000);
});
