/** A tool with a limit, crashed everywhere and run in many orders: no call is lost or doubled, and none runs beside another. */
import { defineTool } from "@pawl/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { type Scenario, callsOf, describeCrashes, exploreCrashes, exploreSchedules } from "../../src/index.ts";

/** The worlds wait for nothing outside them: the code of queues is there before. */
beforeAll(async () => await import("../../../runtime/src/queue/queue-places.ts"));

const calls = ["c1", "c2", "c3"].map((label) => ({ label, tool: "render", args: { label } }));

/** Counts the bodies of one process that are inside at a time. */
const rendering = (seen: { most: number }): Scenario => ({
  tools: ({ effect, sleep }) => {
    let inside = 0;
    return [
      defineTool({
        name: "render",
        durable: true,
        limit: { concurrency: 1 },
        execute: async (_, ctx) => {
          inside += 1;
          seen.most = Math.max(seen.most, inside);
          await ctx.run("render", async ({ key }) => {
            await sleep(5);
            await effect("frame", { key });
          });
          inside -= 1;
        },
      }),
    ];
  },
  host: callsOf(...calls),
});

describe("a tool with a limit", () => {
  it("has each effect once, wherever its process dies", async () => {
    const seen = { most: 0 };
    const report = await exploreCrashes(rendering(seen), { pairs: 0 });
    expect(describeCrashes(report)).toContain("frame");
    expect(report.violations).toEqual([]);
    expect(report.isSafe).toBe(true);
    expect(seen.most).toBe(1);
  });

  it("ends in every order of its turns", async () => {
    const seen = { most: 0 };
    const report = await exploreSchedules(rendering(seen));
    expect(report.isSafe).toBe(true);
    expect(seen.most).toBe(1);
  });
});
