/** A host that drains: it takes no more scopes, and lets go of its own, each as soon as its bodies stand at a record. */
import { defineTool } from "../src/index.ts";
import { describe, expect, it } from "vitest";
import { World } from "./world.ts";
import { call } from "./words.ts";

const lease = { ttlMs: 9000, address: "ws://here" };

/** Two steps; each ends when it is told to. */
const stepper = () => {
  const ran: string[] = [];
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const step = (n: number) => async (): Promise<number> => {
    ran.push(`step ${n}`);
    await ends[n]?.promise;
    return n;
  };
  const tool = defineTool({
    name: "steps",
    durable: true,
    execute: async (_, ctx) => {
      await ctx.run("first", step(0), { recovery: "once" });
      await ctx.run("second", step(1), { recovery: "once" });
      return "both";
    },
  });
  return { tool, ran, end: (n: number) => ends[n]?.resolve() };
};

describe("a runtime that drains", () => {
  it("lets the step that runs end, begins no other, and gives the scope to the next instance at once", async () => {
    const world = new World();
    const { tool, ran, end } = stepper();
    const one = world.start([tool], { lease });
    const two = world.start([tool], { lease });
    await world.quiet();
    const asked = (await one.runtime.session("s")).request("r", call("steps"));
    const told = expect(asked).rejects.toMatchObject({ code: "scope_lost", retryable: true });
    await world.quiet();
    const drained = one.runtime.drain(5000);
    await world.quiet();
    expect(one.runtime.readiness).toBe("draining");
    await expect(two.runtime.session("s")).rejects.toMatchObject({ code: "owned_by" });
    end(0);
    await drained;
    await told;
    expect(ran).toEqual(["step 0"]);
    end(1);
    const replies = await (await two.runtime.session("s")).request("r", call("steps"));
    expect(replies[0]?.output.outcome.payload).toBe("both");
    expect(ran).toEqual(["step 0", "step 1"]);
    await expect(one.runtime.session("s")).rejects.toMatchObject({ code: "closing" });
    await expect(one.runtime.session("new")).rejects.toMatchObject({ code: "closing" });
  });

  it("admits no request meanwhile, and waits no longer than it was told for a body that does not reach a record", async () => {
    const world = new World();
    const { tool } = stepper();
    const one = world.start([tool], { lease });
    const two = world.start([tool], { lease });
    const session = await one.runtime.session("s");
    void session.request("r", call("steps")).catch(() => undefined);
    await world.quiet();
    let isOver = false;
    const drained = one.runtime.drain(3000).then(() => (isOver = true));
    await world.quiet();
    await expect(session.request("another", call("steps"))).rejects.toMatchObject({ code: "scope_lost" });
    world.platform.advance(2999);
    await world.quiet();
    expect(isOver).toBe(false);
    world.platform.advance(1);
    await drained;
    expect((await two.runtime.session("s")).state.scope.epoch).toBe(2);
  });

  it("releases what rests, in memory and out of it, so that its next opening is no crash", async () => {
    const world = new World();
    const one = world.start([], { lease, linger: { ms: 10, most: 1 } });
    for (const id of ["a", "b", "c"]) await one.runtime.session(id);
    world.platform.advance(11);
    await world.quiet();
    expect(one.runtime.inMemory).toBeLessThan(3);
    await one.runtime.drain();
    const entries = await world.journal.scopes("session:", "", 10);
    expect(entries.map(({ scope, held }) => [scope, held])).toEqual([
      ["session:a", undefined],
      ["session:b", undefined],
      ["session:c", undefined],
    ]);
    for (const id of ["a", "b", "c"])
      expect(await world.journal.claim(`session:${id}`, "next", 2)).toMatchObject({ lastOwner: "released" });
    await one.runtime.close();
    expect(one.runtime.readiness).toBe("closed");
    expect(world.platform.timers).toBe(0);
  });

  it("takes up nothing that becomes due", async () => {
    const world = new World();
    const one = world.start([], { lease });
    await world.quiet();
    expect(one.runtime.readiness).toBe("ready");
    await one.runtime.drain();
    const naps = defineTool({
      name: "naps",
      durable: true,
      execute: async (_, ctx) => (await ctx.sleep(1000), "rested"),
    });
    const two = world.start([naps], { lease });
    void (await two.runtime.session("s")).request("r", call("naps")).catch(() => undefined);
    await world.quiet();
    two.kill();
    for (let ms = 0; ms < 20_000; ms += 500) {
      world.platform.advance(500);
      await world.quiet(5);
    }
    const [entry] = await world.journal.scopes("session:s", "", 1);
    expect(entry?.owner).toBe("p2");
  });
});
