/** More than a runtime takes on at a time: refused, with nothing recorded, and taken when it is tried again. */
import { describe, expect, it } from "vitest";
import { type Bounds, Overloaded, Runtime, type Session, defineTool } from "../src/index.ts";
import { World, roots } from "./world.ts";
import { parks } from "./words.ts";

const held = () => {
  const ends: (() => void)[] = [];
  const tool = defineTool({ name: "held", execute: () => new Promise<string>((end) => ends.push(() => end("done"))) });
  return { tool, ends };
};
const call = (text = "") => [{ label: "c", tool: "held", args: { text } }];

const calls = (count: number) => Array.from({ length: count }, (_, i) => ({ label: `c${i}`, tool: "held", args: {} }));

const rig = (bounds: Partial<Bounds>) => {
  const world = new World();
  const { tool, ends } = held();
  const { journal, platform } = world;
  const linger = { ms: 0 };
  const runtime = new Runtime({ journal, platform, tools: [tool, parks], instance: "p", roots, bounds, linger });
  return { world, runtime, ends };
};

const lines = async (world: World, scope: string): Promise<number> => (await world.journal.read(scope, 1)).length;

/** Asks until it is taken, as a host that heeds `retryAfterMs`. */
const insisting = async (world: World, session: Session, request: string, refusals: { count: number }) => {
  for (;;) {
    try {
      return await session.request(request, call());
    } catch (thrown) {
      if (!(thrown instanceof Overloaded)) throw thrown;
      refusals.count += 1;
      await new Promise<void>((resolve) => void world.platform.later(thrown.retryAfterMs, resolve));
    }
  }
};

describe("what is too much", () => {
  it("of requests of a scope, of calls, of a runtime, of characters, is refused and leaves no trace", async () => {
    const cases: readonly (readonly [Partial<Bounds>, string])[] = [
      [{ scopeRequests: 2 }, "2 requests"],
      [{ scopeCalls: 2 }, "2 calls"],
      [{ requests: 2 }, "2 requests of this runtime"],
      [{ characters: 600 }, "characters"],
    ];
    for (const [bounds, why] of cases) {
      const { world, runtime, ends } = rig(bounds);
      const session = await runtime.session("s");
      const taken = ["a", "b"].map((request) => session.request(request, call("x".repeat(300))));
      await world.quiet();
      const before = await lines(world, "session:s");
      const refused = session.request("c", call());
      await expect(refused, why).rejects.toMatchObject({ code: "overloaded", retryable: true, retryAfterMs: 250 });
      await expect(refused).rejects.toThrow(why);
      await world.quiet();
      expect(await lines(world, "session:s")).toBe(before);
      const joined = session.request("a", call("x".repeat(300)));
      for (const end of ends) end();
      await Promise.all([...taken, joined]);
      const third = session.request("c", call());
      await world.quiet();
      ends.at(-1)?.();
      expect(await third).toHaveLength(1);
    }
  });

  it("of events that wait for their commit is refused while the store is slow", async () => {
    const store = { isSlow: false, goOn: [] as (() => void)[] };
    const world = new World();
    const { tool, ends } = held();
    const appendAll: typeof world.journal.appendAll = async (appends) => {
      if (store.isSlow) await new Promise<void>((resolve) => store.goOn.push(resolve));
      return world.journal.appendAll(appends);
    };
    const journal = { ...world.journal, appendAll };
    const bounds = { scopeUncommitted: 1 };
    const runtime = new Runtime({ journal, platform: world.platform, tools: [tool], instance: "p", roots, bounds });
    const session = await runtime.session("s");
    store.isSlow = true;
    const first = session.request("a", call());
    await world.quiet();
    await expect(session.request("b", call())).rejects.toThrow("wait for their commit");
    store.isSlow = false;
    for (const goOn of store.goOn) goOn();
    await world.quiet();
    const second = session.request("b", call());
    await world.quiet();
    for (const end of ends) end();
    expect(await Promise.all([first, second])).toHaveLength(2);
  });

  it("is a request of more calls than ever fit, also a session's first: that is refused for good", async () => {
    for (const bounds of [{ scopeCalls: 2 }, { requestCalls: 2 }]) {
      const { world, runtime, ends } = rig(bounds);
      const session = await runtime.session("s");
      const before = await lines(world, "session:s");
      const message = "a request has at most 2 calls, found 5: make several requests of them";
      await expect(session.request("r", calls(5))).rejects.toMatchObject({ code: "too_many_calls", message });
      expect(await lines(world, "session:s")).toBe(before);
      const replies = session.request("r", calls(2));
      await world.quiet();
      for (const end of ends) end();
      expect(await replies).toHaveLength(2);
    }
    const { runtime } = rig({});
    await expect((await runtime.session("s")).request("r", calls(10_001))).rejects.toMatchObject({
      code: "too_many_calls",
    });
  });
});

describe("ten times as much as is taken", () => {
  it("is all done in the end, over several scopes", async () => {
    const { world, runtime, ends } = rig({ requests: 4 });
    const sessions = await Promise.all(["a", "b"].map((id) => runtime.session(id)));
    const refusals = { count: 0 };
    const all = sessions.flatMap((session) =>
      Array.from({ length: 20 }, (_, i) => insisting(world, session, `r${i}`, refusals)),
    );
    const progress = { isDone: false };
    const done = Promise.all(all).finally(() => (progress.isDone = true));
    while (!progress.isDone) {
      await world.quiet(20);
      expect(ends.length).toBeLessThanOrEqual(4);
      for (const end of ends.splice(0)) end();
      await world.quiet(20);
      world.platform.advance(250);
    }
    expect(await done).toHaveLength(40);
    expect(refusals.count).toBeGreaterThan(40);
  });

  it("gives back what a scope had that has left memory, until it comes back with it", async () => {
    const { world, runtime, ends } = rig({ requests: 1 });
    for (let i = 0; i < 3; i++) {
      const away = (await runtime.session("a")).request("r", [{ label: "c", tool: "parks", args: {} }]);
      away.catch(() => undefined);
      await world.quiet();
      expect(runtime.inMemory).toBe(0);
      const other = (await runtime.session("b")).request(`r${i}`, call());
      await world.quiet();
      ends.at(-1)?.();
      expect(await other).toHaveLength(1);
      await world.quiet();
    }
    const back = await runtime.session("a");
    const refused = (await runtime.session("b")).request("r", call());
    await expect(refused).rejects.toMatchObject({ code: "overloaded" });
    expect(back.state.requests.size).toBe(1);
  });

  it("gives back what a scope had that was lost", async () => {
    const { world, runtime, ends } = rig({ requests: 1 });
    const lost = await runtime.session("a");
    const reply = lost.request("r", call());
    await world.quiet();
    await expect((await runtime.session("b")).request("r", call())).rejects.toMatchObject({ code: "overloaded" });
    lost.runner.abandon("a test");
    await expect(reply).rejects.toMatchObject({ code: "scope_lost" });
    const other = (await runtime.session("b")).request("r", call());
    await world.quiet();
    ends.at(-1)?.();
    expect(await other).toHaveLength(1);
  });
});
