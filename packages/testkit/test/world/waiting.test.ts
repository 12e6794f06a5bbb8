/** Bodies that wait without being in memory: every moment to die at, faults by chance, and orders of arrival. */
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import {
  type Scenario,
  describeCrashes,
  describeSchedules,
  describeSimulation,
  exploreCrashes,
  exploreSchedules,
  simulate,
} from "../../src/index.ts";

const takesNoTime = (): Promise<void> => Promise.resolve();

/** An agent's loop: its model is asked in steps, its tool is a sub-call that a person has to approve, and its host asks another. */
const agent = (suspendMs: number): Scenario => {
  let ponder: (ms: number) => Promise<void> = takesNoTime;
  return {
    runtime: {
      patience: { suspendMs },
      host: {
        request: async (_name, _input, _key, { waiting }) => {
          waiting();
          await ponder(suspendMs * 3);
          return "in GBP";
        },
      },
    },
    tools: ({ effect, sleep }) => {
      ponder = sleep;
      return [
        defineTool({
          name: "loop",
          durable: true,
          execute: async (_, ctx) => {
            await ctx.run("plan", () => "pay");
            const [reply] = await ctx.callAll([{ label: "x", tool: "pay", args: { pence: 5 } }]);
            const how = await ctx.host("ask", "in which currency?");
            return ((said) => ctx.run("report", () => said, { input: said }))({
              how,
              paid: reply?.output.outcome.status ?? null,
            });
          },
        }),
        defineTool({
          name: "pay",
          durable: true,
          needsApproval: true,
          execute: (_, ctx) => ctx.run("pay", async ({ key }) => (await effect("paid", { key }), "paid")),
        }),
      ];
    },
    claims: { paid: "exactly_once" },
    host: async (host) => {
      const called = host.request("r1", [{ label: "c1", tool: "loop", args: {} }]);
      await host.sleep(suspendMs * 4);
      let [asked] = await host.within((session) => session.approvals(), { as: "look" });
      for (; asked === undefined; [asked] = await host.within((session) => session.approvals(), { as: "look" }))
        await host.sleep(suspendMs);
      const { call, hash } = asked;
      await host.once((session) => session.approve(call, { hash, by: "p" }), { as: "decide" });
      const [reply] = await called;
      if (reply?.output.outcome.status !== "success") throw new Error(`found ${JSON.stringify(reply?.output)}`);
      return reply.output.outcome.payload;
    },
  };
};

describe("an agent's loop that waits for people", () => {
  for (const suspendMs of [50, 60_000]) {
    const where = suspendMs > 1000 ? "in memory" : "out of memory";
    it(`pays once, whenever its process dies, while it waits ${where}`, async () => {
      const report = await exploreCrashes(agent(suspendMs), { pairs: 60 });
      expect(report.isSafe ? "" : describeCrashes(report)).toBe("");
    });
    it(`pays once under faults by chance, while it waits ${where}`, async () => {
      const report = await simulate(agent(suspendMs), { seeds: 60, faultsPerMille: 100 });
      expect(report.failure === undefined ? "" : describeSimulation(report)).toBe("");
    });
    it(`has one result in every order of arrivals, while it waits ${where}`, async () => {
      const report = await exploreSchedules(agent(suspendMs), { orders: 80, sameResult: true });
      expect(report.isSafe ? "" : describeSchedules(report)).toBe("");
    });
  }
});
