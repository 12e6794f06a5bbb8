/** The crash explorer finds what fires twice, and lets pass what does not. */
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { type Scenario, callsOf, describeCrashes, exploreCrashes } from "../../src/index.ts";

const call = { id: "c1", tool: "pay", args: {} };

/** A tool that charges, and then mails. */
const paying = (recovery: "again" | "once" | "idempotent", keyed: boolean): Scenario => ({
  tools: ({ effect }) => [
    defineTool({
      name: "pay",
      durable: true,
      execute: async (_, ctx) => {
        const charge = await ctx.runJson(
          "charge",
          { amount: 5 },
          (_input, { key }) => effect("money", keyed ? { key } : {}).then(({ at }) => at > 0),
          {
            recovery,
          },
        );
        await ctx.runJson("mail", {}, () => "sent");
        return charge;
      },
    }),
  ],
  host: callsOf(call),
});

describe("the crash explorer", () => {
  it("finds a step whose effect happens twice, and says where", async () => {
    const report = await exploreCrashes(paying("again", false));
    expect(report.isSafe).toBe(false);
    const money = report.effects.find(({ effect }) => effect === "money");
    expect(money).toMatchObject({ claim: "exactly_once", undisturbed: 1, least: 1 });
    expect(money?.most).toBeGreaterThan(1);
    expect(describeCrashes(report)).toContain("doubled, died at");
    expect(new Set(report.violations.map(({ harm }) => harm))).toEqual(new Set(["doubled"]));
  });

  it("finds nothing where the service takes keys", async () => {
    const report = await exploreCrashes(paying("again", true));
    expect(describeCrashes(report)).toContain("safe");
    expect(report).toMatchObject({ isSafe: true, unknown: [] });
    expect(report.points).toBeGreaterThan(10);
    expect(report.pairs).toBeGreaterThan(50);
  });

  it("tells which deaths leave the outcome of a `once` step unknown", async () => {
    const report = await exploreCrashes(paying("once", false));
    expect(report.violations).toEqual([]);
    expect(report.unknown.length).toBeGreaterThan(0);
    expect(report.effects.find(({ effect }) => effect === "money")?.most).toBe(1);
  });
});
