/** The schedule explorer tries every order of arrivals, and no two equivalent ones. */
import { defineTool } from "@pawl/runtime";
import { canonicalJson } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type ScheduleReport, type Scenario, callsOf, exploreSchedules } from "../../src/index.ts";

const steps = (...names: readonly string[]) =>
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => ctx.all(names.map((name) => ctx.run(name, () => name))),
  });

const racing: Scenario = {
  tools: () => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) =>
        ctx.race([ctx.run("left", () => "left"), ctx.sleep(50), ctx.run("right", () => "right")]),
    }),
  ],
  host: async (host) => (await host.request("r1", [{ label: "c1", tool: "work", args: {} }]))[0]?.output.outcome,
};

const twoRequests = (sessions: readonly [string, string]): Scenario => ({
  tools: () => [steps("a", "b")],
  host: async (host) =>
    Promise.all(
      sessions.map(async (session, i) => host.request(`r${i}`, [{ label: "c", tool: "work", args: {} }], session)),
    ),
});

const resultsOf = ({ results }: ScheduleReport): readonly string[] =>
  results.map(({ result }) => canonicalJson(result)).toSorted();

/** Independent and dependent arrivals, side by side. */
const crossed: { readonly [name: string]: Scenario } = {
  "a host that races two requests": {
    tools: () => [steps("a"), { ...steps("b"), name: "other" }],
    host: async (host) => {
      const named = async (request: string, tool: string): Promise<string> => {
        await host.request(request, [{ label: "c", tool, args: {} }], request);
        return request;
      };
      return Promise.race([named("r1", "work"), named("r2", "other")]);
    },
  },
  "calls of one batch, of which one runs at a time": {
    runtime: { options: { concurrency: 1 } },
    tools: ({ effect }) =>
      ["one", "two"].map((name) =>
        defineTool({
          name,
          durable: true,
          execute: async (_, ctx) =>
            ctx.race(
              ["a", "b"].map((step) => ctx.run(step, async ({ key }) => (await effect(step, { key })).key ?? "")),
            ),
        }),
      ),
    host: async (host) =>
      host.request(
        "r1",
        ["one", "two"].map((tool) => ({ label: tool, tool, args: {} })),
      ),
  },
  "which of two charges came first": {
    tools: ({ effect }) => [
      defineTool({
        name: "work",
        durable: true,
        execute: (_, ctx) => ctx.run("s", async ({ key }) => (await effect("paid", { key })).effect),
      }),
    ],
    host: async (host) => {
      const called = ["s1", "s2"].map((session) =>
        host.request("r1", [{ label: "c", tool: "work", args: {} }], session),
      );
      const { key } = await host.happened("paid", 2);
      await Promise.all(called);
      return key;
    },
  },
};

describe("the schedule explorer", () => {
  it("runs every order of the arrivals that one call waits for", async () => {
    const report = await exploreSchedules({
      tools: () => [steps("a", "b", "c")],
      host: callsOf({ label: "c1", tool: "work", args: {} }),
    });
    expect(report).toMatchObject({ isSafe: true, orders: 6, pruned: 0, isBounded: false });
    expect(report.results).toHaveLength(1);
  });

  it("finds each branch of a race, also with time", async () => {
    const report = await exploreSchedules(racing);
    expect(report.violations).toEqual([]);
    const won = report.results.map(({ result }) => (result as { readonly payload: unknown }).payload);
    expect(new Set(won)).toEqual(new Set(["left", "right", null]));
    expect((await exploreSchedules(racing, { sameResult: true })).violations.length).toBeGreaterThan(0);
  });

  it("skips orders that differ only in independent arrivals", async () => {
    const apart = await exploreSchedules(twoRequests(["s1", "s2"]));
    const together = await exploreSchedules(twoRequests(["s1", "s1"]));
    for (const report of [apart, together]) {
      expect(report).toMatchObject({ isSafe: true, isBounded: false });
      expect(report.results).toHaveLength(1);
      expect(report.pruned).toBeGreaterThan(0);
    }
    // Two calls of two steps: each has two orders, and the host hears of one or the other first.
    expect(apart.orders).toBe(8);
    // One of the two requests opens the session.
    expect(together.orders).toBe(16);
  });

  it.each(Object.entries(crossed))("comes to the same results as all orders do: %s", async (_, scenario) => {
    const [reduced, all] = [
      await exploreSchedules(scenario),
      await exploreSchedules(scenario, { all: true, orders: 3000 }),
    ];
    expect([reduced.violations, all.violations, all.isBounded]).toEqual([[], [], false]);
    expect(resultsOf(reduced)).toEqual(resultsOf(all));
    expect(reduced.orders).toBeLessThanOrEqual(all.orders);
  });

  it("upgrades a scope between any two arrivals, and comes to the same result", async () => {
    const report = await exploreSchedules({
      upgrades: true,
      tools: ({ effect }) => [
        defineTool({
          name: "work",
          durable: true,
          execute: async (_, ctx) => {
            const pay = () => ctx.run("pay", async ({ key }) => (await effect("paid", { key }), "paid"));
            return Promise.all([pay(), ctx.sleep(50).then(() => "slept"), ctx.run("look", () => "seen")]);
          },
        }),
      ],
      host: async (host) => {
        const [reply] = await host.request("r1", [{ label: "c1", tool: "work", args: {} }]);
        const protocol = await host.within(async ({ state }) => state.scope.protocol, { as: "look" });
        return [reply?.output.outcome, protocol];
      },
    });
    expect([report.violations, report.isBounded]).toEqual([[], false]);
    const outcome = { status: "success", payload: ["paid", "slept", "seen"] };
    expect(resultsOf(report)).toEqual([canonicalJson([outcome, 1]), canonicalJson([outcome, 2])]);
    const upgraded = report.results.find(({ result }) => canonicalJson(result).endsWith("2]"));
    expect(upgraded?.example).toContain("the next release");
    expect(upgraded?.orders).toBeGreaterThan(10);
  });

  it("reports that there are more orders than it ran", async () => {
    const many = {
      tools: () => [steps("a", "b", "c", "d", "e")],
      host: callsOf({ label: "c1", tool: "work", args: {} }),
    };
    expect(await exploreSchedules(many, { orders: 10 })).toMatchObject({ orders: 10, isBounded: true });
    expect(await exploreSchedules(many, { depth: 2 })).toMatchObject({ isBounded: true });
  });

  it("finds the order in which an effect happens twice", async () => {
    const forgetful: Scenario = {
      tools: ({ effect }) => [
        defineTool({
          name: "work",
          durable: true,
          execute: async (_, ctx) => {
            const first = await ctx.race([ctx.run("a", () => "a"), ctx.run("b", () => "b")]);
            if (first === "b") await ctx.run("sorry", () => effect("mail").then(() => 1));
            return ctx.run("tell", () => effect("mail").then(() => 1));
          },
        }),
      ],
      host: callsOf({ label: "c1", tool: "work", args: {} }),
    };
    const { violations } = await exploreSchedules(forgetful);
    const doubled = violations.find(({ harm }) => harm === "doubled");
    expect(doubled?.order.slice(0, 2)).toEqual(["host: call r1", "end of step work/b (r1:c1)"]);
  });
});
