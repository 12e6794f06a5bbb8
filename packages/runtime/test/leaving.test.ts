/** Tests that whoever has left a scope holds nothing of it: neither its memory, nor a word of what they were told. */
import { getEventListeners } from "node:events";
import { queryObjects } from "node:v8";
import { describe, expect, it } from "vitest";
import { type Journal, type Session, defineTool } from "../src/index.ts";
import { type BlobStore, memoryBlobs } from "../src/driver.ts";
import { eventType, live, program, toolCall } from "./process/world.ts";
import { type Process, World } from "./world.ts";
import { says } from "./words.ts";

const lingerMs = 5000;
const quiet = async (world: World): Promise<void> => {
  await world.quiet();
  world.platform.advance(lingerMs);
  await world.quiet();
};

const start = (world: World, faulty: Partial<Journal> = {}): Process["runtime"] =>
  world.start([says], { linger: { ms: lingerMs }, faulty }).runtime;

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

const say = (session: Session, n: number) => session.request(`r${n}`, [{ label: "c", tool: "says", args: {} }]);

describe("who has left a scope", () => {
  it("does not hold it in memory by the event that they waited for", async () => {
    const world = new World();
    const runtime = start(world);
    const session = await runtime.session("s");
    await say(session, 0);
    await world.quiet();
    const over = new AbortController();
    const followed = session.follow(session.state.seq, over.signal).next();
    await quiet(world);
    expect(runtime.inMemory).toBe(1);
    over.abort();
    expect(await followed).toEqual({ done: true, value: undefined });
    await quiet(world);
    expect(runtime.inMemory).toBe(0);
  });

  it("does not hold it in memory by having watched", async () => {
    const world = new World();
    const runtime = start(world);
    const session = await runtime.session("s");
    const watching = session.observe();
    await quiet(world);
    expect(runtime.inMemory).toBe(1);
    await watching.return();
    await quiet(world);
    expect(runtime.inMemory).toBe(0);
  });

  it("does not hold it in memory by having watched what could not be read", async () => {
    const world = new World();
    let isDown = true;
    const read: Journal["read"] = async (...of) => {
      if (isDown) throw new Error("the disk is away");
      return world.journal.read(...of);
    };
    const runtime = start(world, { read });
    isDown = false;
    const session = await runtime.session("s");
    await say(session, 0);
    isDown = true;
    const watching = session.observe({ from: { scope: "session:s", seq: 0, index: 0 } });
    const watched = (async () => {
      for await (const frame of watching) expect(frame).toBe("nothing");
    })();
    await expect(watched).rejects.toThrow("the disk is away");
    isDown = false;
    await say(session, 1);
    await expect(watching.next()).rejects.toThrow("the disk is away");
    await quiet(world);
    expect(runtime.inMemory).toBe(0);
  });

  it("waits for no reply, if they left while their request was looked up", async () => {
    const world = new World();
    const session = await start(world).session("s");
    const signal = AbortSignal.abort();
    const gone = { code: "waiter_gone" };
    await expect(session.request("r", [{ label: "c", tool: "says", args: {} }], { signal })).rejects.toMatchObject(
      gone,
    );
    await expect(session.replies("r", { signal, keep: true })).rejects.toMatchObject(gone);
    expect((await session.replies("r")).length).toBe(1);
  });

  it("does not hold it in memory by what they looked up, however long that took", async () => {
    const world = new World();
    const held: (() => void)[] = [];
    const find: Journal["find"] = async (...of) => {
      await new Promise<void>((resolve) => void held.push(resolve));
      return world.journal.find(...of);
    };
    const runtime = start(world, { find });
    await runtime.session("s");
    await quiet(world); // Of a scope that has just begun nothing is looked up.
    const unknown = expect((await runtime.session("s")).replies("r")).rejects.toMatchObject({
      code: "request_unknown",
    });
    await quiet(world);
    expect([held.length, runtime.inMemory]).toEqual([1, 1]);
    held.forEach((go) => go());
    await unknown;
    await quiet(world);
    expect(runtime.inMemory).toBe(0);
  });

  it("leaves those who wait for the same event waiting", async () => {
    const world = new World();
    const session = await start(world).session("s");
    await world.quiet();
    const [one, other] = [new AbortController(), new AbortController()];
    const { seq } = session.state;
    const [left, stayed] = [one, other].map(({ signal }) => session.follow(seq, signal).next());
    await world.quiet();
    one.abort();
    await say(session, 0);
    expect(await left).toEqual({ done: true, value: undefined });
    expect(await stayed).toMatchObject({ value: { seq: seq + 1 } });
  });
});

describe("who follows a scope for long", () => {
  it("costs as much after two hundred calls as after ten", async () => {
    const world = new World();
    const session = await start(world).session("s");
    const over = new AbortController();
    const events = session.follow(session.state.seq, over.signal);
    let next = events.next();
    /** Each event is heard before the next one comes. */
    const converse = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) {
        await say(session, n);
        while (session.state.seq > ((await next).value?.seq ?? 0)) next = events.next();
        next = events.next();
      }
      await world.quiet();
    };
    await converse(0, 10);
    const before = queryObjects(Promise, { format: "count" });
    await converse(10, 210);
    expect(queryObjects(Promise, { format: "count" }) - before).toBeLessThan(100);
    expect(listeners(over.signal)).toBeLessThanOrEqual(2); // Its own, and its wait's.
    over.abort();
    await next;
    expect(listeners(over.signal)).toBe(0);
  });
});

describe("a scope whose values are on their way while others wait", () => {
  it("keeps nothing of those that waited", async () => {
    const world = new World();
    const memory = memoryBlobs();
    const held: (() => void)[] = [];
    const put: BlobStore["put"] = async (...of) => {
      await new Promise<void>((resolve) => void held.push(resolve));
      return memory.put(...of);
    };
    const large = defineTool({
      name: "large",
      durable: true,
      execute: async (_, ctx) => (await ctx.run("a", async () => "x".repeat(100_000))).length,
    });
    const { runtime } = world.start([large], { faulty: { blobs: { ...memory, put } } });
    const session = await runtime.session("s");
    const waitFor = async (from: number, to: number): Promise<void> => {
      for (let n = from; n < to; n++) {
        const replies = session.request(`r${n}`, [{ label: "c", tool: "large", args: {} }]);
        while (held.length === 0) await world.quiet(1);
        for (let i = 0; i < 10; i++) void session.runner.whenDurable();
        held.splice(0).forEach((go) => go());
        await replies;
      }
      await world.quiet();
    };
    await waitFor(0, 10);
    const before = queryObjects(Promise, { format: "count" });
    await waitFor(10, 60);
    expect(queryObjects(Promise, { format: "count" }) - before).toBeLessThan(100);
  });
});

describe("a signal that outlives what was asked under it", () => {
  it("is not listened to any more by requests that are answered", async () => {
    const world = new World();
    const session = await start(world).session("s");
    const { signal } = new AbortController();
    for (let n = 0; n < 5; n++) await session.request(`r${n}`, [{ label: "c", tool: "says", args: {} }], { signal });
    expect(listeners(signal)).toBe(0);
  });

  it("is not listened to any more by waits of a body that are over", async () => {
    const found: number[] = [];
    const work = program("work", async ({ signal, processEvents }) => {
      for (let n = 0; n < 5; n++) {
        await processEvents.emit("note", n);
        await processEvents.waitEventAfter("note", n);
        found.push(listeners(signal));
      }
    });
    const body = program("body", async ({ signal, tasks, processes }) => {
      const { id } = await tasks.create({ kind: "note", display_name: "A note", spec: null });
      await tasks.wait(id, 10);
      found.push(listeners(signal));
      await processes.start({ id: "p", input: toolCall("work"), eventTypes: [eventType("note")] });
      return processes.await("p");
    });
    await live([body, work]);
    expect(found).toEqual([0, 0, 0, 0, 0, 0]);
  });
});
