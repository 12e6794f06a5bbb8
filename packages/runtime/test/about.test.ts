import { describe, expect, it } from "vitest";
import { Registry, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const eventsOf = async (world: World, type: string): Promise<number> =>
  (await world.journal.read("session:s", 1)).filter(({ line }) => line.includes(`"type":"${type}"`)).length;

/** Adds what it is given to a sum in the store, around a step that may be interrupted. */
const counter = (steps: { readonly taken: number[] }, hold: { wait?: Promise<void> } = {}) =>
  defineTool({
    name: "count",
    durable: true,
    execute: async (args, ctx) => {
      const { by } = args as { readonly by: number };
      const before = Number((await ctx.store.get("sum")) ?? 0);
      await ctx.store.set("sum", before + by);
      await ctx.run(
        "step",
        async () => {
          steps.taken.push(before);
          await hold.wait;
          return null;
        },
        { input: null },
      );
      return await ctx.store.get("sum");
    },
  });

describe("the store of a session", () => {
  it("keeps values over a restart, for its host and its tools", async () => {
    const world = new World();
    const steps = { taken: [] };
    const first = world.start([counter(steps)]);
    const session = await first.runtime.session("s");
    await session.store.set("sum", 40);
    expect(await session.call("count", { by: 2 }, { id: "r" })).toBe(42);
    expect(await session.store.get("sum")).toBe(42);
    expect(await session.store.get("other")).toBeUndefined();
    first.kill();
    const again = await world.start([counter(steps)]).runtime.session("s");
    expect(await again.store.get("sum")).toBe(42);
    await again.store.set("sum", undefined);
    expect(await again.store.get("sum")).toBeUndefined();
  });

  it("is written once by a body that runs again, and read as it was read", async () => {
    const world = new World();
    const steps = { taken: [] as number[] };
    const first = world.start([counter(steps, { wait: new Promise(() => undefined) })]);
    const session = await first.runtime.session("s");
    void session.call("count", { by: 2 }, { id: "r" }).catch(() => undefined);
    await world.quiet();
    await session.store.set("sum", 100);
    first.kill();
    const again = await world.start([counter(steps)]).runtime.session("s");
    expect(await again.result("r")).toBe(100);
    expect(steps.taken).toEqual([0, 0]);
    expect(await again.store.get("sum")).toBe(100);
  });

  it("refuses blank keys, what is no JSON, and what does not fit", async () => {
    const session = await new World().start([]).runtime.session("s");
    await expect(session.store.set(" ", 1)).rejects.toMatchObject({ code: "empty_id" });
    await expect(session.store.set("a", 1n as never)).resolves.toBeUndefined();
    await expect(session.store.set("a", (() => 1) as never)).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(session.store.set("a", "x".repeat(40_000))).rejects.toMatchObject({ code: "store_full" });
  });

  it("is not there in a scope of protocol 1", async () => {
    const world = new World(1);
    const session = await world.start([]).runtime.session("s");
    await expect(session.store.set("a", 1)).rejects.toMatchObject({ code: "needs_protocol_2" });
    await expect(world.start([]).runtime.session("t", { title: "A trip" })).rejects.toMatchObject({
      code: "needs_protocol_2",
    });
  });
});

describe("a session with a title and tags", () => {
  it("has them after a restart, and records only what is new", async () => {
    const world = new World();
    const first = world.start([]);
    const session = await first.runtime.session("s", { title: "A trip", tags: ["ann"] });
    await first.runtime.session("s", { title: "A trip", tags: ["ann"] });
    expect(await eventsOf(world, "scope.described")).toBe(1);
    await session.describe({ tags: ["ann", "bob"] });
    first.kill();
    const again = await world.start([]).runtime.session("s");
    expect(again.about).toEqual({ title: "A trip", tags: ["ann", "bob"] });
  });
});

const says = (name: string, word: string) => defineTool({ name, execute: () => word });

const sleeper = () =>
  defineTool({ name: "says", durable: true, execute: async (_, ctx) => ctx.sleep(1000).then(() => "own") });

describe("a session with tools of its own", () => {
  it("has them and no others, and leaves those of the runtime to the other sessions", async () => {
    const { runtime } = new World().start([says("says", "all"), says("shared", "shared")]);
    const ann = await runtime.session("ann", { tools: [says("says", "ann")] });
    const bob = await runtime.session("bob", { tools: [says("says", "bob")] });
    const other = await runtime.session("other");
    expect(await ann.call("says", {}, { id: "r" })).toBe("ann");
    expect(await bob.call("says", {}, { id: "r" })).toBe("bob");
    expect(await other.call("says", {}, { id: "r" })).toBe("all");
    await expect(ann.call("shared", {}, { id: "r2" })).rejects.toMatchObject({ code: "tool_unavailable" });
  });

  it("records nothing where the same tools are given again, and takes new ones at once", async () => {
    const world = new World();
    const { runtime } = world.start([]);
    const tool = says("says", "one");
    const session = await runtime.session("s", { tools: [tool] });
    for (let i = 0; i < 3; i++) await runtime.session("s", { tools: [tool] });
    expect(await eventsOf(world, "catalog.published")).toBe(1);
    await runtime.session("s", { tools: [says("says", "two"), says("more", "more")] });
    expect(await session.call("says", {}, { id: "r1" })).toBe("two");
    expect(await session.call("more", {}, { id: "r2" })).toBe("more");
  });

  it("may share them with other sessions, which all have what comes later", async () => {
    const { runtime } = new World().start([says("says", "all")]);
    const tools = new Registry([says("says", "team")]);
    const [ann, bob] = [await runtime.session("ann", { tools }), await runtime.session("bob", { tools })];
    const other = await runtime.session("other");
    await tools.register(says("more", "later"));
    for (const session of [ann, bob]) {
      expect(await session.call("says", {}, { id: "r1" })).toBe("team");
      expect(await session.call("more", {}, { id: "r2" })).toBe("later");
    }
    expect(await other.call("says", {}, { id: "r" })).toBe("all");
    await expect(other.call("more", {}, { id: "r2" })).rejects.toMatchObject({ code: "tool_unavailable" });
  });

  it("waits for them after a restart, and does not take the runtime's in their place", async () => {
    const world = new World();
    const first = world.start([says("says", "all")]);
    const session = await first.runtime.session("s", { tools: [sleeper()] });
    void session.call("says", {}, { id: "r" }).catch(() => undefined);
    await world.quiet();
    first.kill();
    const { runtime } = world.start([says("says", "all")]);
    const waiting = await runtime.session("s");
    world.platform.advance(5000);
    await world.quiet();
    expect(await waiting.status("r")).toMatchObject({ state: "waiting", waitsFor: "executor" });
    const again = await runtime.session("s", { tools: [sleeper()] });
    await world.quiet();
    world.platform.advance(5000);
    await world.quiet();
    expect(await again.result("r")).toBe("own");
  });

  it("makes them available or not for itself alone", async () => {
    const { runtime } = new World().start([says("says", "all")]);
    const [one, other] = [await runtime.session("one"), await runtime.session("other")];
    await one.setAvailability(["says"], "off");
    await expect(one.call("says", {}, { id: "r" })).rejects.toMatchObject({ code: "tool_unavailable" });
    expect(await other.call("says", {}, { id: "r" })).toBe("all");
    await one.setAvailability(["says"], null);
    expect(await one.call("says", {}, { id: "r2" })).toBe("all");
  });
});
