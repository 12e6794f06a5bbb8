/** Instances with a lease: who may own a scope, who has lost one, and what a zombie does: nothing. */
import { describe, expect, it } from "vitest";
import { type Journal, defineTool } from "../src/index.ts";
import { World } from "./world.ts";
import { call, parks } from "./words.ts";

const lease = { ttlMs: 9000, address: "ws://here" };
const naps = defineTool({ name: "naps", durable: true, execute: async (_, ctx) => (await ctx.sleep(4000), "rested") });

/** Time passes in small steps, so that all that is due in between happens. */
const pass = async (world: World, ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= 500) {
    world.platform.advance(Math.min(left, 500));
    await world.quiet(10);
  }
};

describe("an instance with a lease", () => {
  it("takes none where its tools do not fit", async () => {
    const world = new World();
    const nameless = { ...parks, onDivergence: "nobody's" } as never;
    expect(() => world.start([nameless], { lease })).toThrow("unknown variant `nobody's`");
    await world.quiet();
    expect(world.platform.timers).toBe(0);
  });

  it("keeps others away as long as it renews it, and no longer", async () => {
    const world = new World();
    const one = world.start([parks], { lease });
    await one.runtime.session("s");
    const two = world.start([parks], { lease });
    await pass(world, 60_000);
    await expect(two.runtime.session("s")).rejects.toMatchObject({ code: "owned_by", address: "ws://here" });
    one.kill();
    await pass(world, 8000);
    await expect(two.runtime.session("s")).rejects.toMatchObject({ code: "owned_by" });
    await pass(world, 1500);
    expect((await two.runtime.session("s")).state.scope.epoch).toBe(2);
  });

  it("joins again where it could not, and opens no scope until it has", async () => {
    const world = new World();
    let tries = 0;
    const join: Journal["join"] = async (...of) => {
      if ((tries += 1) <= 2) throw new Error("the store is busy");
      return world.journal.join(...of);
    };
    const faults: string[] = [];
    const fault = (what: string): void => void faults.push(what);
    const { runtime } = world.start([parks], { lease, faulty: { join }, host: { fault } });
    await expect(runtime.session("s")).rejects.toThrow("the store is busy");
    await pass(world, 1000);
    await expect(runtime.session("s")).rejects.toThrow("the store is busy");
    await pass(world, 1000);
    expect((await runtime.session("s")).state.scope.epoch).toBe(1);
    await pass(world, 60_000);
    expect([tries, faults]).toEqual([3, ["no lease could be had", "no lease could be had"]]);
    await runtime.close();
    expect(world.platform.timers).toBe(0);
  });

  it("loses all its scopes when it renews too late, and claims what it is asked for", async () => {
    const world = new World();
    const { runtime } = world.start([parks], { lease, linger: { ms: 0 } });
    const lost = ["s", "t"].map(async (id) => {
      const replies = (await runtime.session(id)).request("r", call("parks"));
      await expect(replies).rejects.toMatchObject({ code: "scope_lost" });
    });
    await world.quiet();
    world.platform.advance(20_000);
    await world.quiet();
    await Promise.all(lost);
    const session = await runtime.session("s");
    expect(session.state.scope.epoch).toBe(2);
    expect(session.state.calls.at("r:c1")?.phase).toBe("pending");
  });

  it("does nothing with what a step comes to whose scope it has lost", async () => {
    const world = new World();
    const step = Promise.withResolvers<string>();
    const works = defineTool({ name: "works", execute: (_, ctx) => ctx.run("a", () => step.promise) });
    const { runtime } = world.start([works], { lease });
    const replies = (await runtime.session("s")).request("r", call("works"));
    const lost = expect(replies).rejects.toMatchObject({ code: "scope_lost" });
    await world.quiet();
    world.platform.advance(20_000);
    await lost;
    step.resolve("too late");
    await world.quiet();
    expect((await world.journal.read("session:s", 1)).map(({ line }) => line).join("")).not.toContain("too late");
  });

  it("loses them too when the store does not say in time whether it holds", async () => {
    const world = new World();
    const faults: string[] = [];
    const faulty: Partial<Journal> = { renew: () => Promise.reject(new Error("away")) };
    const host = { fault: (what: string) => faults.push(what) };
    const { runtime } = world.start([parks], { lease, faulty, host });
    const replies = (await runtime.session("s")).request("r", call("parks"));
    const lost = expect(replies).rejects.toMatchObject({ code: "scope_lost" });
    await pass(world, 9500);
    await lost;
    expect(faults[0]).toContain("renewed");
  });

  it("looks after what another one left, when its time has come", async () => {
    const world = new World();
    const one = world.start([naps], { lease });
    void (await one.runtime.session("s")).request("r", call("naps")).catch(() => undefined);
    await world.quiet();
    one.kill();
    const { runtime } = world.start([naps], { lease });
    await pass(world, 30_000);
    expect((await world.journal.scopes("session:", "", 1))[0]?.epoch).toBe(2);
    await pass(world, 70_000);
    const session = await runtime.session("s");
    expect((await session.replies("r"))[0]?.output.outcome.payload).toBe("rested");
    expect(session.state.scope.epoch).toBe(2);
  });

  it("runs an idempotent step at once while its lease holds, and when it does not, once that is durable", async () => {
    for (const [renews, early] of [
      [true, ["step", "durable"]],
      [false, ["durable", "step"]],
    ] as const) {
      const world = new World();
      const order: string[] = [];
      let isWatched = false;
      const appendAll: Journal["appendAll"] = async (appends) => {
        const results = await world.journal.appendAll(appends);
        if (isWatched && appends.some(({ lines }) => lines.some(({ line }) => line.includes("effect.requested"))))
          order.push("durable");
        return results;
      };
      const step = defineTool({
        name: "step",
        durable: true,
        execute: (_, ctx) => ctx.run("a", () => order.push("step"), { recovery: "idempotent" }),
      });
      const started = world.start([step], { faulty: { appendAll }, ...(renews ? { lease } : {}) });
      const session = await started.runtime.session("s");
      isWatched = true;
      await session.request("r", call("step"));
      expect(order).toEqual(early);
    }
  });
});

const seenWith = async (world: World, second: { readonly recovery: "idempotent" | "again" }) => {
  const seen: string[] = [];
  const appendAll: Journal["appendAll"] = async (appends) => {
    const results = await world.journal.appendAll(appends);
    for (const { line } of appends.flatMap(({ lines }) => lines))
      if (line.includes("step.settled")) seen.push("durable");
    return results;
  };
  const orders = defineTool({
    name: "orders",
    durable: true,
    execute: async (_, ctx) => {
      const drawn = await ctx.run("draw", () => Math.random(), second);
      return ctx.run("place", () => seen.push("placed") && drawn, { recovery: "idempotent" });
    },
  });
  await (
    await world.start([orders], { faulty: { appendAll }, lease }).runtime.session("s")
  ).request("r", call("orders"));
  return seen;
};

describe("an idempotent step", () => {
  it.each(["idempotent", "again"] as const)(
    "tells the outside nothing that follows from an answer which a crash could take back (%s)",
    async (recovery) => {
      const seen = await seenWith(new World(), { recovery });
      expect(seen.slice(0, 2)).toEqual(["durable", "placed"]);
    },
  );
});

describe("a runtime that is closed", () => {
  it("records nothing of the bodies that it ends, and leaves its scopes to others at once", async () => {
    const world = new World();
    const lives: string[] = [];
    const works = defineTool({
      name: "works",
      durable: true,
      execute: async (_, ctx) => {
        lives.push("life");
        const a = await ctx.run("a", () => 1);
        if (lives.length === 1) await new Promise(() => undefined);
        return a;
      },
    });
    const { runtime } = world.start([works], { lease });
    const replies = (await runtime.session("s")).request("r", call("works"));
    const told = expect(replies).rejects.toMatchObject({ code: "scope_lost", retryable: true });
    await world.quiet();
    const before = await world.journal.read("session:s", 1);
    await runtime.close();
    await told;
    expect(await world.journal.read("session:s", 1)).toEqual(before);
    await expect(runtime.session("s")).rejects.toMatchObject({ code: "closing" });
    expect(world.platform.timers).toBe(0);
    const next = await world.start([works], { lease }).runtime.session("s");
    await pass(world, 60_000);
    expect((await next.request("r", call("works")))[0]?.output.outcome.payload).toBe(1);
  });

  it("twice is closed once: whoever says so again waits for the same", async () => {
    const world = new World();
    const writing = Promise.withResolvers<void>();
    let isSlow = false;
    const appendAll: Journal["appendAll"] = async (appends) => {
      if (isSlow) await writing.promise;
      return world.journal.appendAll(appends);
    };
    const { runtime } = world.start([parks], { faulty: { appendAll } });
    const session = await runtime.session("s");
    isSlow = true;
    void session.request("r", call("parks")).catch(() => undefined);
    let closed = 0;
    for (let i = 0; i < 2; i++) void runtime.close().then(() => (closed += 1));
    await world.quiet();
    expect(closed).toBe(0);
    writing.resolve();
    await world.quiet();
    expect(closed).toBe(2);
  });

  it("makes durable what was stepped", async () => {
    const world = new World();
    const { runtime } = world.start([parks]);
    const session = await runtime.session("s");
    void session.request("r", call("parks")).catch(() => undefined);
    await Promise.resolve();
    await runtime.close();
    const lines = await world.journal.read("session:s", 1);
    expect(lines.at(-1)?.seq).toBe(session.state.seq);
  });
});
