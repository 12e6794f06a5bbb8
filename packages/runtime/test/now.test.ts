/** The clock of a body, and the order in which a later attempt is answered: under protocol 2, and as protocol 1 had them. */
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type ToolContext, defineTool } from "../src/index.ts";
import { payloads } from "./words.ts";
import { World } from "./world.ts";

const protocols = [1, 2];
const calls = [{ label: "c", tool: "body", args: {} }];
const busy = done(failureOutput(safeRetryFailure("external", "busy", "busy")));

/** A tool that is tried again after 1 s, so that its clock is not where it was. */
const tried = (execute: (ctx: ToolContext) => Promise<unknown>, attempts = 2) =>
  defineTool({
    name: "body",
    durable: true,
    onDivergence: "fail",
    retry: { attempts: attempts, firstDelayMs: 1000, maxDelayMs: 1000 },
    execute: async (_, ctx) => {
      const end = await execute(ctx);
      return ctx.attempt < attempts ? busy : end;
    },
  });

/** Lets time pass until a reply is there. */
const passing = async <A>(world: World, replies: Promise<A>): Promise<A> => {
  const pending = Symbol("pending");
  for (let i = 0; i < 40; i++) {
    await world.quiet();
    if ((await Promise.race([replies, pending])) !== pending) break;
    world.platform.advance(1000);
  }
  return replies;
};

const reply = async (protocol: number, tool: ReturnType<typeof tried>, world = new World(protocol)): Promise<unknown> =>
  payloads(await passing(world, (await world.start([tool]).runtime.session("s")).request("r", calls)))[0];

describe("a time that a body hands to a step", () => {
  const mails: unknown[] = [];
  const mail = async (ctx: ToolContext) => {
    await ctx.run("quote", () => 7);
    return ((input) => ctx.run("mail", () => (mails.push(input), "sent"), { input }))({ sent_at: ctx.now() });
  };
  it("is another in the next attempt, which diverges so, under protocol 1", async () => {
    expect(await reply(1, tried(mail))).toMatchObject({ code: "replay_diverged" });
  });
  it("is the same in all attempts, under protocol 2: it is sent once", async () => {
    mails.length = 0;
    expect(await reply(2, tried(mail, 4))).toBe("sent");
    expect(mails).toHaveLength(1);
  });
});

/** Steps that end when they are told to. */
const gates = () => {
  const open = new Map<string, () => void>();
  const gate = (name: string): Promise<string> => new Promise((ends) => open.set(name, () => ends(name)));
  return { gate, end: (name: string) => open.get(name)?.() };
};

/** Hears steps in the order `b d c a`, though it asks for `a` first, and for `c` when it has heard `b` and tried another. */
const crossing = () => {
  const { gate, end } = gates();
  const told: unknown[][] = [];
  const execute = async (ctx: ToolContext): Promise<unknown> => {
    const heard: unknown[] = [];
    told.push(heard);
    const step = (name: string) => ctx.run(name, () => gate(name)).then((of) => (heard.push([of, ctx.now()]), of));
    const flaky = () => ctx.run("flaky", () => (ctx.attempt === 1 ? Promise.reject(new Error("no")) : "yes"));
    const chain = step("b")
      .then(() => flaky().catch(() => undefined))
      .then(() => step("c"));
    const first = await ctx.race([ctx.run("a", () => gate("a")), ctx.run("d", () => gate("d"))]);
    heard.push([first, ctx.now()]);
    await chain;
    return ((input) => ctx.run(`after ${first}`, () => input, { input }))(heard);
  };
  return { execute, told, end };
};

describe("answers that a later attempt reuses", () => {
  it.each(protocols)(
    "come in the order in which they came, with their times, under protocol 2: %i",
    async (protocol) => {
      const { execute, told, end } = crossing();
      const world = new World(protocol);
      const replies = (await world.start([tried(execute, 3)]).runtime.session("s")).request("r", calls);
      for (const name of ["b", "d", "c", "a"]) {
        await world.quiet();
        world.platform.advance(10);
        end(name);
      }
      const [end1] = payloads(await passing(world, replies));
      const [first, second] = told;
      expect(first?.map((of) => (of as unknown[])[0])).toEqual(["b", "d", "c"]);
      if (protocol < 2) return expect(end1).toMatchObject({ code: "replay_diverged" });
      expect(second).toEqual(first);
      expect([told.length, end1]).toEqual([3, first]);
    },
  );

  it("come in that order also in runs of the attempt that was killed between two of them", async () => {
    for (let append = 1; append < 24; append++) {
      const { execute, told, end } = crossing();
      const world = new World(2);
      const one = world.start([tried(execute)], { death: { append, when: append % 2 === 0 ? "before" : "after" } });
      void one.runtime.session("s").then(
        (session) => session.request("r", calls),
        () => undefined,
      );
      for (const name of ["b", "d", "c", "a"]) {
        await world.quiet(20);
        world.platform.advance(10);
        end(name);
      }
      await world.quiet(20);
      world.platform.advance(1000);
      await world.quiet(20);
      one.kill();
      const two = (await world.start([tried(execute)]).runtime.session("s")).request("r", calls);
      for (const name of ["b", "d", "c", "a", "b", "d", "c", "a"]) {
        await world.quiet(20);
        end(name);
      }
      const [payload] = payloads(await passing(world, two));
      const last = told.at(-1);
      expect(payload).toEqual(last);
      expect(last?.map((of) => (of as unknown[])[0]).toSorted()).toEqual(["b", "c", "d"]);
    }
  });

  it("have the time at which a failed step succeeds at last", async () => {
    const times: number[] = [];
    const execute = async (ctx: ToolContext) => {
      await ctx
        .run("flaky", () => (ctx.attempt === 1 ? Promise.reject(new Error("no")) : "yes"))
        .catch(() => undefined);
      times.push(ctx.now());
      return ctx.now();
    };
    await reply(2, tried(execute));
    expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
  });
});

describe("the clock of a life", () => {
  it.each(protocols)("stands where the life began, from protocol 2 on, in each of its runs: %i", async (protocol) => {
    const world = new World(protocol);
    const times: number[] = [];
    const tool = defineTool<{ readonly life?: number }>({
      name: "body",
      durable: true,
      execute: async ({ life = 1 }, ctx) => {
        times.push(ctx.now());
        if (life === 2) return ctx.waitFor("never");
        await ctx.sleep(500);
        return ctx.continueAs({ life: 2 });
      },
    });
    const one = world.start([tool]);
    void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    world.platform.advance(500);
    await world.quiet();
    one.kill();
    world.platform.advance(500);
    void (await world.start([tool]).runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    const [began = 0, ...later] = times;
    expect(later.length).toBeGreaterThan(1);
    for (const time of later) expect(time - began).toBe(protocol < 2 ? 0 : 500);
  });
});
