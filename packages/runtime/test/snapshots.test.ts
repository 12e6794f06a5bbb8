/** Snapshots make opening cheap, and are never needed. */
import { currentProtocol } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { type Journal, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "writes", args: {} }];
const page = "x".repeat(10_000);

/** A body of twenty steps of 10,000 characters each, which then waits. */
const writes = defineTool({
  name: "writes",
  durable: true,
  execute: async (_, ctx) => {
    let length = 0;
    for (let n = 0; n < 20; n++) length += (await ctx.run(`step-${n}`, () => page)).length;
    return [length, await ctx.waitFor("go")];
  },
});

const begun = async (): Promise<World> => {
  const world = new World();
  const one = world.start([writes]);
  void (await one.runtime.session("s")).request("r", calls).catch(() => undefined);
  for (let i = 0; i < 30; i++) {
    await world.quiet(10);
    world.platform.advance(20);
  }
  one.kill();
  return world;
};

/** Opens the scope again, and says from where its log was read and what was reported. */
const opened = async (world: World, faulty: Partial<Journal> = {}) => {
  const reads: number[] = [];
  const faults: string[] = [];
  const read: Journal["read"] = (scope, from, to) => {
    reads.push(from);
    return world.journal.read(scope, from, to);
  };
  const host = { fault: (what: string) => faults.push(what) };
  const { runtime } = world.start([writes], { faulty: { read, ...faulty }, host });
  const session = await runtime.session("s");
  return { session, reads, faults };
};

/** Runs a scope whose store answers each snapshot so, and returns what was reported. */
const reported = async (result: Awaited<ReturnType<Journal["snapshot"]>>): Promise<readonly string[]> => {
  const world = new World();
  const faults: string[] = [];
  const host = { fault: (what: string) => faults.push(what) };
  const { runtime } = world.start([writes], { faulty: { snapshot: async () => result }, host });
  void (await runtime.session("s")).request("r", calls).catch(() => undefined);
  for (let i = 0; i < 30; i++) {
    await world.quiet(10);
    world.platform.advance(20);
  }
  return faults;
};

describe("a snapshot", () => {
  it("is taken when the events outweigh it, and opening reads only what comes after it", async () => {
    const { session, reads, faults } = await opened(await begun());
    expect(reads[0]).toBeGreaterThan(10);
    expect(faults).toEqual([]);
    await session.report({ type: "clock.ticked" });
    expect(session.state.calls.at("r:c1")?.phase).toMatch(/running|resuming/);
  });

  it("that comes too late for a scope which another host has taken is no fault; one that the disk refuses is", async () => {
    expect(await reported({ type: "fenced", epoch: 2 })).toEqual([]);
    expect(await reported({ type: "full" })).toContain("session:s: a snapshot was not taken: full");
  });

  it("is taken of a scope that is opened again and again, and does little each time", async () => {
    const world = new World();
    const says = defineTool({ name: "says", execute: () => page });
    const froms: number[] = [];
    for (let life = 0; life < 20; life++) {
      const read: Journal["read"] = (scope, from, to) => {
        froms.push(from);
        return world.journal.read(scope, from, to);
      };
      const process = world.start([says], { faulty: { read } });
      const session = await process.runtime.session("s");
      await session.request(`r${life}`, [{ label: "c", tool: "says", args: {} }]);
      await world.quiet(10);
      world.platform.advance(20);
      await world.quiet(10);
      process.kill();
    }
    const [first, last] = [froms[0] ?? 0, froms.at(-1) ?? 0];
    expect(first).toBe(1);
    expect(last).toBeGreaterThan(50);
  });

  it("that is due is taken before its scope leaves memory", async () => {
    const world = new World();
    const says = defineTool({ name: "says", execute: () => page.repeat(4) });
    const { runtime } = world.start([says], { linger: { ms: 0 } });
    const twice = ["c", "d"].map((id) => ({ label: id, tool: "says", args: {} }));
    await (await runtime.session("s")).request("r", twice);
    await world.quiet(10);
    expect(runtime.inMemory).toBe(1);
    world.platform.advance(20);
    await world.quiet(10);
    expect(runtime.inMemory).toBe(0);
    const claim = await world.journal.claim("session:s", "another", currentProtocol).catch((thrown: unknown) => thrown);
    expect(JSON.stringify(claim)).toContain("snapshot");
  });

  it("that does not restore is reported, and the log says the same", async () => {
    const world = await begun();
    const spoils = [
      (text: string) => text.slice(1),
      () => "{}",
      () => "null",
      (text: string) => text.replace("session:s", "session:t"),
      (text: string) => text.replace("durable-step:step-1", "durable-step:step-x"),
    ];
    for (const spoil of spoils) {
      const claim: Journal["claim"] = async (scope, instance, protocol) => {
        const claimed = await world.journal.claim(scope, instance, protocol);
        if (claimed.type !== "claimed" || claimed.snapshot === undefined) throw new Error("no snapshot");
        return { ...claimed, snapshot: { ...claimed.snapshot, text: spoil(claimed.snapshot.text) } };
      };
      const { session, reads, faults } = await opened(world, { claim });
      expect(reads).toContain(1);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(/snapshot .* does not restore/);
      expect(session.state.calls.at("r:c1")).toBeDefined();
    }
  });

  it("that the store refuses is reported, and costs nothing else", async () => {
    const world = new World();
    const faults: string[] = [];
    const { runtime } = world.start([writes], {
      faulty: { snapshot: async () => ({ type: "full" }) },
      host: { fault: (what: string) => faults.push(what) },
    });
    void (await runtime.session("s")).request("r", calls).catch(() => undefined);
    for (let i = 0; i < 30; i++) {
      await world.quiet(10);
      world.platform.advance(20);
    }
    expect(faults[0]).toContain("full");
    expect((await runtime.session("s")).runner.isAbandoned).toBe(false);
  });
});
