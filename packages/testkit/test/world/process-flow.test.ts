/** Processes, flows and approvals under the explorers: all crashes, and all orders of arrival. */
import { type Session, defineTool } from "@pawl/runtime";
import { callRef } from "@pawl/sansio-core";
import type { FlowNode, Program } from "@pawl/sansio-core/driver";
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  type Scenario,
  type ScenarioHost,
  describeCrashes,
  describeSchedules,
  describeSimulation,
  exploreCrashes,
  exploreSchedules,
  simulate,
} from "../../src/index.ts";

const workCall = { call_id: "c", tool_id: "tool:work", tool_name: "work", args: {}, prepared_payload: null };
const input = { type: "tool_call", call: workCall } as const;
const go = { name: "signal.go", payload_schema: { schema: {} }, semantics: {} };

/** A body starts a process, signals it and awaits it. */
const signalled: Scenario = {
  tools: ({ effect }) => [
    defineTool({
      name: "body",
      durable: true,
      execute: async (_, { processes }) => {
        await processes.start({ id: "p", input, eventTypes: [go] });
        await processes.signal("p", "go", "now", "s1");
        const end = await processes.await("p");
        return end.type === "success" ? (end.value ?? null) : end.type;
      },
    }),
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        const heard = await ctx.processEvents.awaitSignal("go");
        return ctx.run("pay", async ({ key }) => (await effect("money", { key }), heard), { input: { heard } });
      },
    }),
  ],
  host: (host) => host.request("r1", [{ label: "b", tool: "body", args: {} }]),
};

/** The same, cancelled by its body while it works. */
const cancelled: Scenario = {
  tools: () => [
    defineTool({
      name: "body",
      durable: true,
      execute: async (_, { processes, sleep }) => {
        await processes.start({ id: "p", input });
        await sleep(30);
        await processes.cancel("p");
        return (await processes.await("p")).type;
      },
    }),
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        await ctx.run("begin", () => 1);
        await ctx.sleep(3_600_000);
      },
    }),
  ],
  claims: { "step work/begin": "any" },
  host: (host) => host.request("r1", [{ label: "b", tool: "body", args: {} }]),
};

const use = (argument: string): FlowNode => ({ node_type: "use_tool", tool_name: "work", argument, named_args: [] });
const program: Program = {
  name: "Both",
  backend: "stub",
  nodes: [{ node_type: "parallel_block", branches: [[use("1")], [use("2")]] }, use("3")],
};

const flowing: Scenario = {
  tools: ({ effect }) => [
    defineTool({
      name: "work",
      durable: true,
      execute: (_, ctx) => ctx.run("pay", async ({ key }) => (await effect("money", { key }), "paid")),
    }),
  ],
  host: async (host) => {
    const { ending } = await host.within((session) => session.flow({ request: "f", flow: program }), { request: "f" });
    return ending.type;
  },
};

const approved = async (host: ScenarioHost, id: string): Promise<void> => {
  const seen = { hash: stableHash({}), by: "p" };
  const isParked = ({ state }: Session): boolean => state.calls.at(callRef("r1", id))?.phase === "awaiting_approval";
  while (!(await host.within(async (session) => isParked(session), { as: `look at ${id}` }))) await host.sleep(100);
  await host.once((session) => session.approve(callRef("r1", id), seen), { as: `approve ${id}` });
};

/** Two calls wait for approval; afterwards one runs at a time. */
const approving: Scenario = {
  tools: ({ effect }) => [
    defineTool({
      name: "work",
      durable: true,
      needsApproval: true,
      concurrency: "serial",
      execute: (_, ctx) => ctx.run("pay", async ({ key }) => (await effect("money", { key }), "paid")),
    }),
  ],
  host: async (host) => {
    const called = host.request(
      "r1",
      ["c1", "c2"].map((id) => ({ label: id, tool: "work", args: {} })),
    );
    await approved(host, "c2");
    await approved(host, "c1");
    return called;
  },
};

const scenarios = { signalled, cancelled, flowing, approving };

describe.each(Object.entries(scenarios))("long work: %s", (_, scenario) => {
  it("is the same at every crash", async () => {
    const report = await exploreCrashes(scenario, { pairs: 60 });
    expect(report.isSafe, describeCrashes(report)).toBe(true);
    expect(report.points).toBeGreaterThan(15);
  });

  it("is the same under faults of the store and the connection", async () => {
    const simulation = await simulate(scenario, { seeds: 60, faultsPerMille: 120 });
    expect(simulation.failure, describeSimulation(simulation)).toBeUndefined();
  });

  it("ends in every order that is tried", async () => {
    const report = await exploreSchedules(scenario, { orders: 60 });
    expect(report.isSafe, describeSchedules(report)).toBe(true);
  });
});
