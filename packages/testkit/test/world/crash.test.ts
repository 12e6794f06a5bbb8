/** The crash explorer finds effects that happen twice, and accepts correct tools. */
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { type Outside, type Scenario, callsOf, describeCrashes, exploreCrashes } from "../../src/index.ts";

const call = { label: "c1", tool: "pay", args: {} };

/** A tool that charges, then mails. */
const paying = (recovery: "again" | "once" | "idempotent", keyed: boolean): Scenario => ({
  tools: ({ effect }) => [
    defineTool({
      name: "pay",
      durable: true,
      execute: async (_, ctx) => {
        const charge = await ctx.run(
          "charge",
          ({ key }) => effect("money", keyed ? { key } : {}).then(({ at }) => at > 0),
          {
            input: { amount: 5 },
            recovery,
          },
        );
        await ctx.run("mail", () => "sent");
        return charge;
      },
    }),
  ],
  host: callsOf(call),
});

/** Charges with or without a key. */
const charging = (name: string, keyed: boolean) => (outside: Outside) =>
  defineTool({
    name,
    durable: true,
    execute: async (_, ctx) => {
      await ctx.run("look", () => outside.sleep(5));
      await ctx.run("charge", async ({ key }) => {
        await outside.sleep(5);
        await outside.effect("money", keyed ? { key } : {});
      });
    },
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

  it("names the tool, even if two tools cause the same effect", async () => {
    const [careful, careless] = [charging("careful", true), charging("careless", false)];
    const report = await exploreCrashes(
      {
        tools: (outside) => [careful(outside), careless(outside)],
        host: callsOf({ label: "c1", tool: "careful", args: {} }, { label: "c2", tool: "careless", args: {} }),
      },
      { pairs: 0 },
    );
    expect(report.effects.find(({ effect }) => effect === "money")?.tools.toSorted()).toEqual(["careful", "careless"]);
    expect(report.violations.length).toBeGreaterThan(0);
    for (const { message } of report.violations) expect(message).toContain("`money` of `careless` happened 3 times");
    expect(describeCrashes(report)).toMatch(
      / {2}money, by (?:careful and careless|careless and careful): 2 to 3 times/,
    );
  });

  it("finds nothing if the service takes keys", async () => {
    const report = await exploreCrashes(paying("again", true));
    expect(describeCrashes(report)).toContain("safe");
    expect(report).toMatchObject({ isSafe: true, unknown: [] });
    expect(report.points).toBeGreaterThan(10);
    expect(report.pairs).toBeGreaterThan(50);
  });

  it("reports the crashes that leave the outcome of a `once` step unknown", async () => {
    const report = await exploreCrashes(paying("once", false));
    expect(report.violations).toEqual([]);
    expect(report.unknown.length).toBeGreaterThan(0);
    expect(report.effects.find(({ effect }) => effect === "money")?.most).toBe(1);
  });
});
