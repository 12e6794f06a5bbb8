/** A process dies before or after any of its appends; the next one goes on, and the reply is the same. */
import type { Reply } from "../src/index.ts";
import { describe, expect, it } from "vitest";
import { type Journal, type ToolDefinition, defineTool } from "../src/index.ts";
import { type Death, World } from "./world.ts";

interface Run {
  readonly replies: readonly Reply[];
  /** How often the work of each step was done. */
  readonly work: ReadonlyMap<string, number>;
}

type Scenario = (done: (step: string) => void) => ToolDefinition;

const sequence: Scenario = (done) =>
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const results: string[] = [];
      for (const step of ["a", "b", "c", "d", "e", "f"])
        results.push(await ctx.run(step, () => (done(step), `${step}!`), { input: { step } }));
      return results;
    },
  });

/** One step at a time, with a native wait behind each answer. */
const paced: Scenario = (done) =>
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const order: string[] = [];
      for (const step of ["a", "b", "c", "d", "e"]) {
        order.push(await ctx.run(step, () => (done(step), step), { input: { order: [...order] } }));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return order;
    },
  });

/** A race of two steps, with a native wait between an answer and the next request. */
const racing: Scenario = (done) =>
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const step = (name: string) => ctx.run(name, async () => (done(name), name));
      const first = await Promise.race([step("left"), step("right")]);
      await new Promise((resolve) => setImmediate(resolve));
      const second = await ctx.race([ctx.sleep(5), step(`after-${first}`)]);
      return [first, second ?? "slept", await step("last")];
    },
  });

/** Two branches, one with a native wait behind its answer: what both have done by then is in the next request. */
const beside: Scenario = (done) =>
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const order: string[] = [];
      const quick = async (): Promise<void> => {
        await ctx.run("quick", () => (done("quick"), 1));
        await new Promise((resolve) => setImmediate(resolve));
        order.push("quick");
      };
      const slow = async (): Promise<void> => {
        await ctx.run("slow", async () => {
          for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
          return (done("slow"), 2);
        });
        order.push("slow");
      };
      await Promise.all([quick(), slow()]);
      return ctx.run("both", () => (done("both"), order), { input: { order } });
    },
  });

const together: Scenario = (done) =>
  defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      const steps = ["x", "y", "z"].map((name) => ctx.run(name, () => (done(name), name)));
      await ctx.sleep(1000);
      return [await ctx.all(steps), ctx.random(), ctx.uuid("id"), ctx.now() > 0];
    },
  });

const calls = [{ label: "c1", tool: "work", args: {} }];

/** Lives one process until it is dead or has its reply, as time jumps ahead. */
const liveOne = async (
  world: World,
  tools: readonly ToolDefinition[],
  death?: Death,
): Promise<readonly Reply[] | undefined> => {
  const process = world.start(tools, death === undefined ? {} : { death });
  const outcome: { replies?: readonly Reply[] } = {};
  void process.runtime.session("s").then(async (session) => {
    outcome.replies = await session.request("r1", calls);
  });
  for (let i = 0; i < 8 && outcome.replies === undefined && !process.isDead; i++) {
    await world.quiet(30);
    world.platform.advance(70_000);
  }
  process.kill();
  return outcome.replies;
};

/** Processes one after the other, the first of which dies so, until the reply is there. */
const live = async (scenario: Scenario, death: Death | undefined): Promise<Run> => {
  const world = new World();
  const work = new Map<string, number>();
  const tools = [scenario((step) => work.set(step, (work.get(step) ?? 0) + 1))];
  const first = await liveOne(world, tools, death);
  const replies = first ?? (await liveOne(world, tools)) ?? (await liveOne(world, tools));
  if (replies === undefined) throw new Error("no reply");
  return { replies, work };
};

/** How many turns of a second life follow at once on the one before. */
const followingOf = async (scenario: Scenario): Promise<number> => {
  const world = new World();
  const tools = [scenario(() => undefined)];
  await liveOne(world, tools, { append: 5, when: "after" });
  const before = world.platform.following;
  await liveOne(world, tools);
  return world.platform.following - before;
};

it("hears one answer behind the other of what it asked for one by one, and of nothing else", async () => {
  expect(await followingOf(sequence)).toBeGreaterThan(0);
  expect(await followingOf(beside)).toBe(0);
});

it("begins a later life only when it is on record that it does", async () => {
  const world = new World();
  const lives: string[] = [];
  const body = defineTool({
    name: "work",
    durable: true,
    execute: async (_, ctx) => {
      lives.push("begun");
      await ctx.waitFor("never");
    },
  });
  const first = world.start([body]);
  const call = [{ label: "c1", tool: "work", args: {} }];
  (await first.runtime.session("s")).request("r", call).catch(() => undefined);
  await world.quiet();
  first.kill();
  const isResumed = Promise.withResolvers<void>();
  const appendAll: Journal["appendAll"] = async (appends) => {
    const isIt = appends.some(({ lines }) => lines.some(({ line }) => line.includes("call.resumed")));
    if (isIt) await isResumed.promise;
    return world.journal.appendAll(appends);
  };
  void world.start([body], { faulty: { appendAll } }).runtime.session("s");
  await world.quiet();
  expect(lives).toEqual(["begun"]);
  isResumed.resolve();
  await world.quiet();
  expect(lives).toEqual(["begun", "begun"]);
});

const scenarios = { sequence, paced, racing, beside, together };

for (const [name, scenario] of Object.entries(scenarios)) {
  describe(`a body in ${name}`, () => {
    it("comes to the same reply wherever its process dies", async () => {
      const undisturbed = await live(scenario, undefined);
      for (let append = 1; append <= 12; append++) {
        for (const when of ["before", "after"] as const) {
          const { replies, work } = await live(scenario, { append, when });
          const at = `died ${when} append ${append}`;
          expect(replies[0]?.output.outcome.status, at).toBe("success");
          if (name !== "racing") expect(replies[0]?.output, at).toEqual(undisturbed.replies[0]?.output);
          // A step whose settlement was on its way when the process died is done once more, and never a third time.
          expect(Math.max(...work.values()), at).toBeLessThanOrEqual(2);
        }
      }
    });
  });
}
