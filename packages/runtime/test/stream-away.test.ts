/** Streams whose scope does not stay as it was: logs that are shortened, moves, hosts that stop, newer protocols. */
import { describe, expect, it } from "vitest";
import { type Session, type ToolContext, defineTool } from "../src/index.ts";
import { cursorAfter } from "../src/driver.ts";
import { Hosts, scope } from "./move-world.ts";
import {
  type Body,
  type Frame,
  type Script,
  World,
  all,
  awaiting,
  begin,
  logged,
  numbered,
  reading,
  say,
  script,
} from "./stream-world.ts";

const chunksIn = (frames: readonly Frame[]): readonly unknown[] =>
  frames.flatMap((frame) => (frame.type === "chunks" ? frame.chunks : []));

/** Lets time pass, and writes enough that snapshots are made and the log is shortened behind one that is old. */
const age = async (world: World, session: Session, ms: number): Promise<void> => {
  world.platform.advance(ms);
  for (let n = 0; n < 12; n++) {
    await session.store.set(`k${n}`, "x".repeat(1000));
    for (let turn = 0; turn < 5; turn++) {
      await world.quiet();
      world.platform.advance(20);
    }
  }
};

describe("a stream in a log that is shortened", () => {
  const start = { retention: { olderThanMs: 60_000 }, snapshotAfter: 2000 } as const;

  it("is whole while its call lives, also when its log was shortened, and gone afterwards", async () => {
    const one = script();
    const body = async (ctx: ToolContext): Promise<unknown> => {
      await ctx.stream("words", one.source);
      return ctx.waitFor("go");
    };
    const { world, session } = await begin(body, { ...start, world: new World(2) });
    await say(world, one, 6, 100);
    await age(world, session, 100_000);
    const lines = await world.journal.read("session:s", 1);
    const said = lines.find(({ line }) => line.includes('"type":"stream.recorded"'))?.seq ?? Infinity;
    expect((await world.journal.segment("session:s"))?.base ?? 0).toBeGreaterThan(said);
    expect(chunksIn(await reading(session, { from: 0 }).soFar(world))).toEqual(all);
    const [wait] = session.state.waits.rows();
    await session.resolveById(wait?.key ?? "", { status: "ok", payload: 1 }, "ada");
    await age(world, session, 100_000);
    await age(world, session, 100_000);
    const { frames, error } = reading(session, { from: 0 });
    await world.quiet();
    expect(frames).toEqual([]);
    expect(error()).toMatchObject({ code: "gone", message: expect.stringContaining("stream `words`") });
  });

  it("is told from the first chunk on that is left, behind a gap", async () => {
    const one = script();
    const { world, session } = await begin(awaiting(one), { ...start, world: new World(2) });
    await say(world, one, 3, 300);
    await age(world, session, 0);
    world.platform.advance(50_000);
    await say(world, one, 3, 300);
    await age(world, session, 15_000);
    const frames = await reading(session, { from: 0 }).soFar(world);
    const [gap, ...rest] = frames;
    if (gap?.type !== "gap") throw new Error(`no gap: ${JSON.stringify(frames)}`);
    expect(gap.from).toBe(0);
    expect(chunksIn(rest)).toEqual(all.slice(gap.to));
    expect(gap.to).toBeGreaterThan(0);
    expect(gap.to).toBeLessThan(5);
    expect(rest.at(-1)).toEqual({ type: "end", attempt: 1, at: 5, isDone: true });
  });
});

describe("a stream whose scope moves to another host", () => {
  it("is said to its end first, and read there from any place under the same numbers", async () => {
    const one = script();
    const tool = defineTool({
      name: "tool",
      durable: true,
      execute: async (_, ctx) => [await ctx.stream("words", one.source), await ctx.waitFor("go")],
    });
    const hosts = new Hosts([tool]);
    const source = await hosts.a.runtime.session("s");
    void source.request("r", [{ label: "c1", tool: "tool", args: {} }]).catch(() => undefined);
    await hosts.quiet();
    const sayAll = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        one.go();
        await hosts.quiet();
        hosts.platform.advance(300);
        await hosts.quiet();
      }
    };
    await sayAll(2);
    const moving = hosts.a.runtime.move(scope, "b");
    await sayAll(5);
    await moving;
    const target = await hosts.b.runtime.session("s");
    const here = reading(target, { from: 2 });
    await hosts.quiet();
    expect(chunksIn(here.frames)).toEqual(all.slice(2));
    expect(here.isOver()).toBe(true);
    expect(one.runs).toHaveLength(1);
  });
});

describe("a stream whose host stops in the middle of it", () => {
  it("goes on with the next host: a reader asks that one from its cursor, and drops what was never on record", async () => {
    const [one, two] = [script(), script()];
    const world = new World(2);
    const { process, session } = await begin(awaiting(one), { world });
    const here = reading(session);
    await say(world, one, 2, 300);
    await say(world, one, 1, 5);
    expect(chunksIn(here.frames)).toEqual(all.slice(0, 3));
    const closing = process.runtime.close();
    await world.quiet();
    await closing;
    expect(here.error()).toMatchObject({ code: expect.any(String) });
    const next = await begin(awaiting(two), { world });
    const cursor = here.frames.reduce((at, frame) => cursorAfter(frame, at), { attempt: 0, at: 0 });
    const there = reading(next.session, { from: cursor });
    await say(world, two, 7, 300);
    expect(there.isOver()).toBe(true);
    const [reset, ...rest] = there.frames;
    expect(reset).toMatchObject({ type: "reset", attempt: 2 });
    expect(chunksIn(rest)).toEqual(numbered(2));
    const groups = await logged(world, "stream.recorded");
    expect(groups.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2, 2, 2, 2]);
    expect(groups.map(({ from }) => from)).toEqual([0, 1, 2, 3, 4, 5, 6]); // Each number was given once.
  });
});

/** Waits for a word, and says words. */
const late =
  (one: Script): Body =>
  async (ctx) => {
    await ctx.waitFor("go");
    return awaiting(one)(ctx);
  };

describe("a stream of a call that began under protocol 1", () => {
  it("is said and read once its scope has a newer protocol, and was refused before", async () => {
    const one = script();
    const world = new World(1);
    const old = await begin(late(one), { world });
    const refused = reading(old.session);
    await world.quiet();
    expect(refused.frames).toEqual([]);
    old.process.kill();
    const { session, told } = await begin(late(one), { world, upgrade: "auto" });
    expect(session.state.scope.protocol).toBe(2);
    const live = reading(session);
    const [wait] = session.state.waits.rows();
    await session.resolveById(wait?.key ?? "", { status: "ok", payload: 1 }, "ada");
    world.platform.advance(70_000); // A body whose owner was lost is resumed after a pause.
    await say(world, one, 7, 300);
    expect(told.payload).toEqual(all);
    expect([chunksIn(live.frames), live.isOver()]).toEqual([all, true]);
    expect(chunksIn(await reading(session, { from: 2 }).soFar(world))).toEqual(all.slice(2));
  });
});
