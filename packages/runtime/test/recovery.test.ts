/** Tests what is known of scopes that could not be taken up, after many have come and gone. */
import { describe, expect, it } from "vitest";
import { Recovery } from "../src/lifecycle/recovery.ts";
import { type Journal, defineTool } from "../src/index.ts";
import { TestPlatform, World } from "./world.ts";

const begin = () => {
  const platform = new TestPlatform();
  const found = { due: [] as readonly string[], isBroken: true };
  const tried: string[] = [];
  const open = new Set<string>();
  const recovery = new Recovery({
    journal: { due: async (_now: number, _instance: string, limit: number) => found.due.slice(0, limit) } as never,
    platform,
    instance: "i",
    open: async (scope) => {
      tried.push(scope);
      if (found.isBroken) throw new Error("it is broken");
    },
    isOpen: open,
    collect: async () => undefined,
    fault: () => undefined,
  });
  return { platform, found, tried, open, recovery };
};

describe("a scope that could not be taken up", () => {
  it("is forgotten when it is not due any more, whoever took it", async () => {
    const { found, recovery } = begin();
    for (let round = 0; round < 20; round++) {
      found.due = Array.from({ length: 100 }, (_, i) => `session:${round}-${i}`);
      await recovery.beat();
      expect(recovery.putOff).toBe(100);
    }
    found.due = [];
    await recovery.beat();
    expect(recovery.putOff).toBe(0);
  });

  it("is left alone for longer each time, as long as it is due, and is taken up when that works", async () => {
    const { platform, found, tried, recovery } = begin();
    found.due = ["session:a"];
    for (let second = 0; second < 13; second++) {
      await recovery.beat();
      platform.advance(1000);
    }
    expect(tried).toHaveLength(3);
    found.isBroken = false;
    platform.advance(100_000);
    await recovery.beat();
    expect([tried.length, recovery.putOff]).toEqual([4, 0]);
  });

  it("is not forgotten among more than are looked at: there it may be due all the same", async () => {
    const { found, recovery } = begin();
    const many = Array.from({ length: 2000 }, (_, i) => `session:${i}`);
    found.due = many;
    await recovery.beat();
    expect(recovery.putOff).toBe(256);
    found.due = many.toReversed();
    await recovery.beat();
    expect(recovery.putOff).toBe(512);
  });
});

describe("a scope whose opening the core refuses", () => {
  it("is refused with the core's own code, and is not opened again in a loop", async () => {
    const world = new World();
    const waits = defineTool({ name: "waits", durable: true, execute: (_, ctx) => ctx.sleep(1000) });
    const first = world.start([waits]);
    void (await first.runtime.session("s"))
      .request("r", [{ label: "c", tool: "waits", args: null }])
      .catch(() => undefined);
    await world.quiet();
    first.kill();
    world.platform.advance(5000);
    let claims = 0;
    const faults: string[] = [];
    /** A store that has lost the epochs of its scopes. */
    const claim: Journal["claim"] = async (...of) => {
      claims += 1;
      const claimed = await world.journal.claim(...of);
      return claimed.type === "claimed" ? { ...claimed, epoch: 1 } : claimed;
    };
    const { runtime } = world.start([waits], {
      faulty: { claim },
      host: { fault: (what, thrown) => void faults.push(`${what}: ${String(thrown)}`) },
    });
    const refusal = "scope session:s cannot be opened: the epoch is 1, found 1";
    await expect(runtime.session("s")).rejects.toMatchObject({ code: "stale_epoch", message: refusal });
    claims = 0;
    for (let beat = 0; beat < 20; beat++) {
      await runtime.recover();
      world.platform.advance(1000);
    }
    expect(claims).toBe(3);
    expect(faults).toEqual(Array.from({ length: 3 }, () => `session:s was not taken up: Refused: ${refusal}`));
  });
});

describe("a beat that is under way when its runtime closes", () => {
  it("is no fault", async () => {
    const world = new World();
    const tool = defineTool({ name: "hangs", durable: true, execute: () => new Promise(() => undefined) });
    const first = world.start([tool]);
    void (await first.runtime.session("s"))
      .request("r", [{ label: "c", tool: "hangs", args: null }])
      .catch(() => undefined);
    await world.quiet();
    first.kill();
    const faults: string[] = [];
    const found = Promise.withResolvers<void>();
    const due: Journal["due"] = async (...of) => {
      await found.promise;
      return world.journal.due(...of);
    };
    const { runtime } = world.start([tool], {
      faulty: { due },
      host: { fault: (what, thrown) => void faults.push(`${what}: ${String(thrown)}`) },
    });
    const beat = runtime.recover();
    await runtime.close();
    found.resolve();
    await beat;
    expect(await world.journal.due(world.platform.now(), "another")).toEqual(["session:s"]);
    expect(faults).toEqual([]);
  });
});

const names = (count: number, of: string): readonly string[] =>
  Array.from({ length: count }, (_, i) => `session:${of}${i}`);

describe("a scope that is due", () => {
  it("is taken up behind any number of those that look after themselves, or are left alone", async () => {
    const { found, tried, open, recovery } = begin();
    const [inMemory, broken] = [names(300, "open"), names(200, "broken")];
    for (const scope of inMemory) open.add(scope);
    found.due = broken;
    await recovery.beat();
    found.isBroken = false;
    found.due = [...inMemory, ...broken, "session:last"];
    tried.length = 0;
    await recovery.beat();
    expect(tried).toEqual(["session:last"]);
  });

  it("is taken up at a beat soon after, where there are more than at one, and at one only", async () => {
    const { platform, found, tried, open, recovery } = begin();
    found.isBroken = false;
    found.due = names(256, "a");
    await recovery.beat();
    expect([tried.length, platform.timers]).toEqual([256, 1]);
    for (const scope of tried) open.add(scope);
    found.due = names(3, "b");
    await recovery.beat();
    expect([tried.length, platform.timers]).toEqual([259, 0]);
  });
});

describe("work that was left by a host whose clock was ahead", () => {
  it("is taken up at once by a host on the right clock", async () => {
    const world = new World();
    let runs = 0;
    const tool = defineTool({
      name: "slow",
      durable: true,
      execute: async () => {
        runs += 1;
        return runs === 1 ? new Promise(() => undefined) : runs;
      },
    });
    const hour = 3_600_000;
    world.platform.advance(hour);
    const ahead = world.start([tool]);
    void (await ahead.runtime.session("s"))
      .request("r", [{ label: "c", tool: "slow", args: null }])
      .catch(() => undefined);
    await world.quiet();
    ahead.kill();
    world.platform.advance(-hour);
    const { runtime } = world.start([tool]);
    await runtime.recover();
    await world.quiet();
    expect(runs).toBe(2);
    expect(await (await runtime.session("s")).replies("r")).toMatchObject([{ output: { outcome: { payload: 2 } } }]);
  });
});
