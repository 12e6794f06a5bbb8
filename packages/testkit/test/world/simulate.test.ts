/** A seed decides everything: the same seed gives the same bytes, and a failing seed is shrunk. */
import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { defineTool } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import {
  type Fate,
  type Outcome,
  type Scenario,
  callsOf,
  describeSimulation,
  lineFaults,
  runScenario,
  simulate,
  storeFaults,
} from "../../src/index.ts";

const call = { label: "c1", tool: "work", args: {} };

/** Three steps, a sleep and a race. The service of the last step takes keys. */
const working: Scenario = {
  tools: ({ effect, sleep }) => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        const steps = ["a", "b"].map((name) => ctx.run(name, async () => (await sleep(5), name)));
        const both = await ctx.all(steps);
        await ctx.sleep(50);
        const told = await ctx.run("tell", async ({ key }) => (await effect("mail", { key })).effect, {
          input: { both },
        });
        return [both, told];
      },
    }),
  ],
  host: callsOf(call),
};

const careless: Scenario = {
  ...working,
  tools: ({ effect }) => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        await effect("mail");
        return ctx.run("step", () => 1);
      },
    }),
  ],
};

const textOf = ({ logs }: Outcome): string =>
  [...logs.values()].flatMap((lines) => lines.map(({ line }) => line)).join("");
const dieAt =
  (...moments: readonly number[]) =>
  (_: unknown, n: number): Fate =>
    moments.includes(n) ? "die" : "live";

describe("a simulated world", () => {
  it("gives the same bytes for the same seed", async () => {
    const [first, second] = await Promise.all([1, 2].map(() => simulate(careless, { seed: 3, seeds: 200 })));
    expect(first?.failure).toBeDefined();
    expect(second).toEqual(first);
  });

  it("ends under crashes and every fault of the store", async () => {
    const simulation = await simulate(working, { seeds: 150, faultsPerMille: 120 });
    expect(describeSimulation(simulation)).toContain("nothing is wrong");
    expect(simulation.deaths).toBeGreaterThan(20);
    expect(simulation.faults).toBeGreaterThan(50);
    for (const fate of ["die", ...storeFaults, ...lineFaults] as const)
      expect([fate, simulation.befallen[fate] ?? 0]).toEqual([fate, expect.toSatisfy((count: number) => count > 0)]);
  });

  it.each(storeFaults)("continues after the store was %s, at any append", async (fault) => {
    const usual = await runScenario(working);
    for (const [i, moment] of usual.moments.entries()) {
      if (moment.type !== "append" || moment.when !== "before") continue;
      const simulation = await simulate(working, { fates: `${i + 1}:${fault}` });
      expect(describeSimulation(simulation)).toContain("nothing is wrong");
      expect(simulation.faults).toBe(1);
    }
  });

  it.each(lineFaults)("continues after the host's request was %s", async (fault) => {
    const usual = await runScenario(working);
    const n = usual.moments.findIndex(({ type }) => type === "word") + 1;
    const simulation = await simulate(working, { fates: `${n}:${fault}` });
    expect(describeSimulation(simulation)).toMatch(/1 fault \(\w+ 1\): nothing is wrong/);
  });

  it("continues after half of a group of two sessions was torn off", async () => {
    const apart: Scenario = {
      ...working,
      host: async (host) => Promise.all(["s1", "s2"].map(async (session) => host.request("r1", [call], session))),
    };
    const { moments } = await runScenario(apart);
    const within = moments.flatMap((moment, i) => (moment.type === "append" && moment.when === "within" ? [i] : []));
    expect(within.length).toBeGreaterThan(3);
    for (const i of within) {
      const torn = await runScenario(apart, { director: (_, n) => (n === i ? "torn" : "live") });
      expect([torn.ended, torn.deaths, torn.why]).toEqual(["done", 1, undefined]);
    }
  });

  it("shrinks a failing run, and prints how to repeat it", async () => {
    const { failure } = await simulate(careless, { seeds: 200, faultsPerMille: 200, deathsPerMille: 100 });
    expect(failure?.violation.harm).toBe("doubled");
    expect(failure?.fates).toMatch(/^\d+:\w+$/);
    const again = await simulate(careless, { seed: failure?.seed ?? 0, fates: failure?.fates ?? "" });
    expect(again.failure?.violation).toEqual(failure?.violation);
    expect(again.failure?.logs).toEqual(failure?.logs);
  });

  it("refuses unknown fates", async () => {
    await expect(simulate(working, { fates: "3:sulk" })).rejects.toThrow("fate `3:sulk`: expected `{moment}:{fate}`");
  });

  it("says what a stuck host waits for", async () => {
    const { ended, why } = await runScenario({
      ...working,
      host: (host) => Promise.all([host.request("r1", [call]), host.happened("fax", 2)]),
    });
    expect(ended).toBe("stuck");
    expect(why).toBe("nothing is left to run, and the host still waits for effect `fax`, number 2");
  });

  it("says what the call waits for that the host waits for", async () => {
    const { why } = await runScenario({
      tools: () => [defineTool({ name: "ask", needsApproval: true, execute: () => "asked" })],
      host: (host) => host.request("r1", [{ label: "c", tool: "ask", args: {} }]),
    });
    expect(why).toMatch(
      /still waits for an answer to `call r1`; call r1:c of session:\S+ waits for a person's approval/,
    );
  });

  it("lets no dead process act", async () => {
    const usual = await runScenario(working);
    const { ended, deaths, happened, logs } = await runScenario(working, { director: dieAt(usual.moments.length - 1) });
    expect([ended, deaths]).toEqual(["done", 1]);
    expect(happened.filter(({ effect }) => effect === "mail")).toHaveLength(1);
    expect(new Set([...logs.values()].flat().map(({ line }) => line)).size).toBe([...logs.values()].flat().length);
    expect(textOf({ ...usual, logs })).toContain('"owner":"p2"');
  });
});

const aWhile = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 5));

const leaving = (execute: () => Promise<unknown>, inStep: boolean): Scenario => ({
  tools: () => [
    defineTool({
      name: "work",
      durable: true,
      execute: async (_, ctx) => {
        await ctx.run("first", () => 1);
        return inStep ? ctx.run("second", async () => (await execute(), 2)) : execute();
      },
    }),
  ],
  host: callsOf(call),
});

describe("code that leaves the world", () => {
  it("is a body that waits for something outside its context, and the place is reported", async () => {
    const { ended, why } = await runScenario(leaving(aWhile, false));
    expect(ended).toBe("left_the_world");
    expect(why).toMatch(/tool `work` \(call `c1`\) waits .* after `ctx\.run` at .*simulate\.test\.ts:\d+/);
  });

  it.each([
    ["a file", () => readFile(import.meta.filename)],
    ["an immediate", () => setImmediate()],
  ])("is code that waits for %s, however soon that comes, and it is reported without any fault", async (_, execute) => {
    expect((await runScenario(leaving(execute, false))).ended).toBe("left_the_world");
    const { failure } = await simulate(leaving(execute, false), { seeds: 10, deathsPerMille: 500 });
    expect([failure?.violation.harm, failure?.fates]).toEqual(["left_the_world", ""]);
  });

  it("is a step that waits for something other than the outside", async () => {
    const { ended, why } = await runScenario(leaving(aWhile, true));
    expect(ended).toBe("left_the_world");
    expect(why).toContain("step `work/second` waits");
  });

  it("is not code that waits for promises which settle by themselves", async () => {
    const { ended } = await runScenario(leaving(async () => Promise.resolve().then(() => 1), true));
    expect(ended).toBe("done");
  });
});
