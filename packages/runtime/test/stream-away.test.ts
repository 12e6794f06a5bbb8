/** Streams whose scope does not stay as it was: logs that are shortened, moves, upgrades in mid-stream. */
import { describe, expect, it } from "vitest";
import { type Session, type ToolContext, defineTool } from "../src/index.ts";
import { Hosts, scope } from "./move-world.ts";
import { type Frame, World, all, awaiting, begin, reading, say, script } from "./stream-world.ts";

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
