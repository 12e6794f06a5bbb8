/** Scopes at rest leave memory, and come back as if they had never left. */
import { describe, expect, it } from "vitest";
import { type Journal, type Session, type ToolDefinition, defineTool } from "../src/index.ts";
import { World } from "./world.ts";
import { call, naps, parks, says } from "./words.ts";

const atOnce = { linger: { ms: 0 } };

const waits = defineTool({
  name: "waits",
  durable: true,
  execute: async (_, ctx) => [await ctx.run("before", () => 1), await ctx.waitFor("go")],
});
const stays = defineTool({ name: "stays", execute: (_, ctx) => ctx.waitFor("go") });
const tools = [waits, parks, naps, stays, says];

/** A store that stops, and goes on. */
class Writing {
  readonly #journal: Journal;
  readonly #held: (() => void)[] = [];
  #isStopped = false;
  constructor(journal: Journal) {
    this.#journal = journal;
  }
  readonly appendAll: Journal["appendAll"] = async (appends) => {
    if (this.#isStopped) await new Promise<void>((resolve) => void this.#held.push(resolve));
    return this.#journal.appendAll(appends);
  };
  get held(): number {
    return this.#held.length;
  }
  stop(): void {
    this.#isStopped = true;
  }
  goOn(): void {
    this.#isStopped = false;
    for (const write of this.#held) write();
  }
}

const linesOf = async (world: World): Promise<readonly string[]> =>
  (await world.journal.read("session:s", 1)).map(({ line }) => line);

const resolveFirst = (session: Session) => {
  const [wait] = session.state.waits.rows();
  return session.report({ type: "wait.resolved", key: wait?.key ?? "", resolution: { status: "ok", payload: "go" } });
};

describe("a scope at rest", () => {
  it("leaves memory after a while, and its log says nothing of it", async () => {
    const world = new World();
    const { runtime } = world.start(tools, { linger: { ms: 5000 } });
    const session = await runtime.session("s");
    const replies = session.request("r", call("parks"));
    await world.quiet();
    world.platform.advance(4999);
    await world.quiet();
    expect(runtime.inMemory).toBe(1);
    const before = await linesOf(world);
    world.platform.advance(1);
    await world.quiet();
    expect([runtime.inMemory, world.platform.timers]).toEqual([0, 0]);
    await resolveFirst(session);
    expect((await replies)[0]?.output.outcome.payload).toBe("go");
    const after = await linesOf(world);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.filter((line) => line.includes("scope.opened"))).toHaveLength(1);
  });

  it("stays while the store is still writing: the reply that waits for it is heard", async () => {
    const world = new World();
    const writing = new Writing(world.journal);
    const { runtime } = world.start(tools, { linger: { ms: 5000 }, faulty: { appendAll: writing.appendAll } });
    const session = await runtime.session("s");
    await world.quiet();
    writing.stop();
    const replies = session.request("r", call("says"));
    await world.quiet();
    world.platform.advance(5000);
    await world.quiet();
    expect([writing.held, runtime.inMemory]).toEqual([1, 1]);
    writing.goOn();
    expect((await replies)[0]?.output.outcome.payload).toBe("hello");
  });

  it("wakes in its own time, by however much the wall clock was put back meanwhile", async () => {
    const world = new World();
    const wall = world.platform.now;
    let backMs = 0;
    world.platform.now = () => wall() - backMs;
    const { runtime } = world.start(tools, { linger: { ms: 5000 } });
    const replies = (await runtime.session("s")).request("r", call("naps"));
    const ends: unknown[] = [];
    void replies.then(([reply]) => ends.push(reply?.output.outcome.payload));
    await world.quiet();
    backMs = 3 * 3_600_000;
    let ms = 0;
    for (; ms < 1_200_000 && ends.length === 0; ms += 10_000) {
      world.platform.advance(10_000);
      await world.quiet();
    }
    expect([ends, ms]).toEqual([["rested"], 600_000]);
  });

  it("stays while the store is still writing letters of it, and no event: who waits for that is told", async () => {
    const world = new World();
    const writing = new Writing(world.journal);
    const { runtime } = world.start(tools, { linger: { ms: 5000 }, faulty: { appendAll: writing.appendAll } });
    const { runner } = await runtime.session("s");
    await world.quiet();
    writing.stop();
    runner.say({ to: "process:p", kind: "answer", link: 1, number: 1, text: "again" });
    const written = runner.whenDurable();
    await world.quiet();
    world.platform.advance(5000);
    await world.quiet();
    expect([writing.held, runtime.inMemory]).toEqual([1, 1]);
    writing.goOn();
    await written;
    await world.quiet();
    world.platform.advance(5000);
    await world.quiet();
    expect(runner.isAbandoned).toBe(true); // It has left.
  });

  it("is not left without the answer that time gives as its body would be dropped", async () => {
    const world = new World();
    const races = defineTool({
      name: "races",
      durable: true,
      execute: async (_, ctx) => (void ctx.waitFor("never"), await ctx.sleep(2000), "rested"),
    });
    const { runtime } = world.start([races]);
    const replies = (await runtime.session("s")).request("r", call("races"));
    const heard: unknown[] = [];
    void replies.then(([reply]) => heard.push(reply?.output.outcome.payload));
    for (let i = 0; i < 4; i++) {
      await world.quiet();
      world.platform.advance(60_000);
    }
    await world.quiet();
    expect(heard).toEqual(["rested"]);
  });

  it("leaves earlier where there are many", async () => {
    const world = new World();
    const { runtime } = world.start(tools, { linger: { most: 2 } });
    for (const id of ["a", "b", "c", "d"]) {
      await runtime.session(id);
      await world.quiet(10);
    }
    expect(runtime.inMemory).toBe(2);
  });

  it("wakes when its time has come, with the body that it had suspended", async () => {
    const world = new World();
    const { runtime } = world.start(tools, atOnce);
    const replies = (await runtime.session("s")).request("r", call("naps"));
    for (let i = 0; i < 3; i++) {
      await world.quiet();
      world.platform.advance(2000);
    }
    await world.quiet();
    expect(runtime.inMemory).toBe(0);
    world.platform.advance(600_000);
    expect((await replies)[0]?.output.outcome.payload).toBe("rested");
  });

  it("stays while a body is in memory that can not be run again", async () => {
    const world = new World();
    const { runtime } = world.start(tools, atOnce);
    const session = await runtime.session("s");
    const replies = session.request("r", call("stays"));
    for (let i = 0; i < 3; i++) {
      await world.quiet();
      world.platform.advance(60_000);
    }
    expect(runtime.inMemory).toBe(1);
    await resolveFirst(await runtime.session("s"));
    expect((await replies)[0]?.output.outcome.payload).toBe("go");
  });

  it("is another's when that one claimed it meanwhile, and who waited is told", async () => {
    const world = new World();
    const one = world.start(tools, atOnce);
    const replies = (await one.runtime.session("s")).request("r", call("parks"));
    const lost = expect(replies).rejects.toMatchObject({ code: "scope_lost", retryable: true });
    await world.quiet();
    expect(one.runtime.inMemory).toBe(0);
    await world.start(tools).runtime.session("s");
    const again = await one.runtime.session("s");
    await lost;
    expect(again.state.scope.epoch).toBe(3);
  });

  it("can be asked through every session that was ever opened on it", async () => {
    const world = new World();
    const { runtime } = world.start(tools, atOnce);
    const sessions = [await runtime.session("s"), await runtime.session("s")];
    await world.quiet();
    sessions.push(await runtime.session("s"));
    await world.quiet();
    for (const [i, session] of sessions.entries()) {
      const replies = session.request(`r${i}`, call("parks"));
      await world.quiet();
      await resolveFirst(session.state.waits.size > 0 ? session : await runtime.session("s"));
      expect((await replies)[0]?.output.outcome.payload).toBe("go");
    }
  });
});

const steps = defineTool({
  name: "steps",
  durable: true,
  execute: async (_, ctx) => {
    const first = await ctx.race([ctx.sleep(5000), ctx.waitFor("go", { timeoutMs: 9000 })]);
    await ctx.sleep(70_000);
    const last = await ctx.all(["x", "y"].map((name) => ctx.run(name, () => name)));
    return [first ?? null, last, ctx.now() > 0];
  },
});

/** All that a life of so many jumps in time leaves in the log, with the same host in both. */
const lifeOf = async (tool: ToolDefinition, ms: number): Promise<readonly string[]> => {
  const world = new World();
  const { runtime } = world.start([tool], { linger: { ms } });
  const session = await runtime.session("s");
  const replies = [1, 2].map((n) => session.request(`r${n}`, call(tool.name)));
  let resolved = 0;
  for (let i = 0; i < 20; i++) {
    await world.quiet(15);
    world.platform.advance(4500);
    await world.quiet(15);
    const live = await runtime.session("s");
    if (i === 3 && live.state.waits.size > resolved) {
      resolved += 1;
      await resolveFirst(live);
    }
  }
  await Promise.race([Promise.all(replies), world.quiet(50)]);
  return linesOf(world);
};

describe("a run in which the scope leaves memory at every quiet point", () => {
  for (const tool of [waits, parks, naps, steps]) {
    it(`leaves the same log as one in which it stays: a body that ${tool.name}`, async () => {
      const [away, stayed] = [await lifeOf(tool, 0), await lifeOf(tool, Infinity)];
      expect(away).toEqual(stayed);
      expect(away.length).toBeGreaterThan(4);
    });
  }
});
