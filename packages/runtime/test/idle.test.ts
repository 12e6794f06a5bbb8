/** Bodies that are quiet: dropped while they only wait, and found out when they leave the path of their log. */
import { pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { type ToolContext, type ToolDefinition, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "waits", args: {} }];
const resolveFirst = (session: Awaited<ReturnType<ReturnType<World["start"]>["runtime"]["session"]>>) => {
  const [wait] = session.state.waits.rows();
  return session.report({ type: "wait.resolved", key: wait?.key ?? "", resolution: { status: "ok", payload: "go" } });
};

/** A body that asks for one step, or for nothing. */
const asksOrNot = (asks: boolean) =>
  defineTool({
    name: "waits",
    durable: true,
    onDivergence: "fail",
    execute: async (_, ctx) => {
      if (asks) await ctx.run("a", () => 1);
      else await new Promise(() => undefined);
      return ctx.waitFor("go");
    },
  });

/** A body that asks for a step of this name. */
const asks = (step: string) =>
  defineTool({
    name: "waits",
    durable: true,
    onDivergence: "fail",
    execute: async (_, ctx) => {
      await ctx.run(step, () => 1);
      return ctx.waitFor("go");
    },
  });

type Execute = ToolDefinition["execute"];

describe("a body that only waits", () => {
  it("is dropped after two seconds, and starts again when what it waits for comes", async () => {
    const world = new World();
    const lives: string[] = [];
    const waits = defineTool({
      name: "waits",
      durable: true,
      execute: async (_, ctx) => {
        const step = await ctx.run("before", () => (lives.push("step"), 1));
        lives.push("life");
        return [step, await ctx.waitFor("go")];
      },
    });
    const session = await world.start([waits]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    world.platform.advance(1999);
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("running");
    world.platform.advance(1);
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("suspended");
    await resolveFirst(session);
    expect((await replies)[0]?.output.outcome.payload).toEqual([1, "go"]);
    expect(lives).toEqual(["step", "life", "life"]);
  });
  it("stays when it can not be run again", async () => {
    const world = new World();
    const waits = defineTool({ name: "waits", execute: (_, ctx) => ctx.waitFor("go") });
    const session = await world.start([waits]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    world.platform.advance(60_000);
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("running");
    await resolveFirst(session);
    expect((await replies)[0]?.output.outcome.payload).toBe("go");
  });
});

describe("a body that no longer asks what its log records", () => {
  it("has diverged when it asks nothing for half a minute while an answer is held", async () => {
    const world = new World();
    const one = world.start([asksOrNot(true)]);
    void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    one.kill();
    const session = await world.start([asksOrNot(false)]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    world.platform.advance(29_999);
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("running");
    world.platform.advance(1);
    expect((await replies)[0]?.output.outcome.payload).toMatchObject({ code: "replay_diverged" });
  });
  it("has diverged at once when it asks for something else", async () => {
    const world = new World();
    const one = world.start([asks("a")]);
    void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    one.kill();
    const session = await world.start([asks("b")]).runtime.session("s");
    const [reply] = await session.request("r", calls);
    expect(reply?.output.outcome.payload).toMatchObject({
      code: "replay_diverged",
      message: expect.stringContaining("expected the recorded `durable-step:a`, found step `durable-step:b`"),
    });
  });
});

/** A body that has asked for two steps, and one that ends in its place. */
const asked = defineTool({
  name: "waits",
  durable: true,
  execute: async (_, ctx) => [await ctx.run("a", () => 1), await ctx.waitFor("go")],
});

describe("a body that ends before it has asked for what its log records", () => {
  for (const [how, execute] of [
    [
      "throws",
      async () => {
        throw new TypeError("no key");
      },
    ],
    ["returns", async () => "early"],
    [
      "continues with other arguments",
      async ({ n }: { readonly n?: number }, ctx: ToolContext) =>
        n === undefined ? ctx.continueAs({ n: 1 }) : "early",
    ],
    ["returns after the first of two", async (_: unknown, ctx: ToolContext) => ctx.run("a", () => 1)],
  ] as const)
    it(`has diverged when it ${how}: the resolver is asked, and can keep the call for a better program`, async () => {
      const world = new World();
      const one = world.start([asked]);
      void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
      await world.quiet();
      one.kill();
      const causes: unknown[] = [];
      const thrown: unknown[] = [];
      const bad = world.start([defineTool({ name: "waits", durable: true, execute: execute as Execute })], {
        host: {
          internalError: (_, what) => void thrown.push(what),
          resolveOutcome: async ({ cause }) => (causes.push(cause), { type: "person" }),
        },
      });
      const session = await bad.runtime.session("s");
      void session.request("r", calls).catch(() => undefined);
      await world.quiet();
      expect(causes).toEqual(["diverged"]);
      expect(thrown).toHaveLength(how === "throws" ? 1 : 0);
      expect(session.state.calls.at("r:c1")?.phase).toBe("unknown");
      bad.kill();
    });

  it("has not, where what it left running asks for the rest as it is answered", async () => {
    const world = new World();
    const ran: string[] = [];
    const step = (ctx: ToolContext, id: string) => ctx.run(id, () => (ran.push(id), id));
    const leaving = (isHeldUp: boolean) =>
      defineTool({
        name: "waits",
        durable: true,
        execute: async (_, ctx) => {
          void step(ctx, "a").then(() => step(ctx, "b"));
          if (isHeldUp) await new Promise(() => undefined);
          return "at once";
        },
      });
    const one = world.start([leaving(true)]);
    void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    one.kill();
    const [reply] = await (await world.start([leaving(false)]).runtime.session("s")).request("r", calls);
    expect(reply?.output.outcome.payload).toBe("at once");
    expect(ran).toEqual(["a", "b"]);
  });
});

describe("a call that is parked on its key", () => {
  it("has no body that could be idle", async () => {
    const world = new World();
    const waits = defineTool({ name: "waits", execute: (_, ctx) => (ctx.completionKey(), pending()) });
    const session = await world.start([waits]).runtime.session("s");
    const replies = session.request("r", calls);
    await world.quiet();
    world.platform.advance(60_000);
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("pending");
    await resolveFirst(session);
    expect((await replies)[0]?.output.outcome.payload).toBe("go");
  });
});

describe("a body that asks for something else under a key of its own", () => {
  const work = defineTool({ name: "work", durable: true, execute: async () => "done" });
  for (const [when, wait] of [
    ["at once", false],
    ["when it has its answer", true],
  ] as const)
    it(`has diverged in its first run, too: ${when}`, async () => {
      const waits = defineTool({
        name: "waits",
        durable: true,
        onDivergence: "fail",
        execute: async (_, { handleTools }) => {
          const first = handleTools.startToolCall("x", "work", { n: 1 });
          if (wait) await first;
          const second = handleTools.startToolCall("x", "work", { n: 2 });
          return [await first, await second];
        },
      });
      const session = await new World().start([waits, work]).runtime.session("s");
      const [reply] = await session.request("r", calls);
      expect(reply?.output.outcome.payload).toMatchObject({
        code: "replay_diverged",
        message: expect.stringContaining("expected step `start-tool-call:x:prepare` with input"),
      });
    });
});
