/** Readers of streams: live and late, from any cursor, fast and slow, through crashes and after the end. */
import { describe, expect, it } from "vitest";
import type { ToolContext } from "../src/index.ts";
import { type Frame, World, all, awaiting, begin, numbered, reading, say, script, words } from "./stream-world.ts";

const chunk = (from: number, chunks: readonly string[], isRecorded: boolean, attempt = 1): Frame => ({
  type: "chunks",
  from,
  attempt,
  isRecorded,
  chunks,
});
const end = (at: number, isDone = true, attempt = 1): Frame => ({ type: "end", attempt, at, isDone });
const name = "words";
/** Returns what a reader has in the end, after all resets. */
const applied = (frames: readonly Frame[]): readonly unknown[] => {
  const has: unknown[] = [];
  for (const frame of frames) {
    if (frame.type === "reset") has.length = Math.min(has.length, frame.from);
    if (frame.type === "chunks") {
      expect(frame.from).toBe(has.length);
      has.push(...frame.chunks);
    }
  }
  return has;
};

const resets = (frames: readonly Frame[]) => frames.filter(({ type }) => type === "reset");

describe("a reader of a stream", () => {
  it("that reads along is shown each chunk as it is said, and the end once all is on record", async () => {
    const one = script();
    const { world, session } = await begin(awaiting(one));
    const { frames } = reading(session);
    await say(world, one, 2);
    expect(frames).toEqual([chunk(0, all.slice(0, 1), false), chunk(1, all.slice(1, 2), false)]);
    await say(world, one, 4);
    expect(applied(frames)).toEqual(all);
    expect(frames.at(-1)).toEqual(end(5));
  });

  it("that asks by a number is shown what is on record alone", async () => {
    const one = script();
    const { world, session } = await begin(awaiting(one));
    const { frames } = reading(session, { from: 1 });
    await say(world, one, 2);
    expect(frames).toEqual([]);
    world.platform.advance(250);
    await world.quiet();
    expect(frames).toEqual([chunk(1, all.slice(1, 2), true)]);
  });

  it("that comes late has the whole, from any place: in mid-stream, when the stream is over, and when its call is", async () => {
    const one = script();
    const { world, session } = await begin(async (ctx) => {
      await ctx.stream(name, one.source);
      await ctx.waitFor("go");
    });
    const check = async (): Promise<void> => {
      const { length } = applied(await reading(session, { from: 0 }).soFar(world));
      for (let from = 0; from <= length; from++) {
        const read = await reading(session, { from }).soFar(world);
        expect(read.flatMap((frame) => (frame.type === "chunks" ? frame.chunks : []))).toEqual(all.slice(from, length));
      }
    };
    await say(world, one, 3, 100);
    await check();
    await say(world, one, 3, 100);
    await check();
    const [wait] = session.state.waits.rows();
    await session.resolveById(wait?.key ?? "", { status: "ok", payload: 1 }, "ada");
    await world.quiet();
    expect(session.state.calls.size).toBe(0);
    await check();
    expect((await reading(session).soFar(world)).at(-1)).toEqual(end(5));
  });

  it("is told to drop what was never on record, when the producer begins again", async () => {
    const one = script();
    const { world, process, session } = await begin(awaiting(one));
    const { frames } = reading(session);
    await say(world, one, 2, 250);
    await say(world, one, 2, 0);
    expect(applied(frames)).toEqual(all.slice(0, 4));
    process.kill();
    const again = await begin(awaiting(one), { world });
    const more = reading(again.session, { from: { attempt: 1, at: 4 } });
    await say(world, one, 6);
    expect(more.frames[0]).toEqual({ type: "reset", attempt: 2, from: 2, keep: 2 });
    expect(applied([...frames, ...more.frames])).toEqual([...all.slice(0, 2), ...numbered(2)]);
    const recorded = await reading(again.session, { from: 0 }).soFar(world);
    expect(recorded.map(({ type }) => type)).not.toContain("reset");
    expect(applied(recorded)).toEqual([...all.slice(0, 2), ...numbered(2)]);
  });

  it("is told the same after the call is over as it was before", async () => {
    const one = script();
    const { world, process } = await begin(awaiting(one, { resume: true }));
    await say(world, one, 2, 250);
    process.kill();
    const again = await begin(awaiting(one, { resume: true }), { world });
    const live = reading(again.session);
    await say(world, one, 4, 250);
    await world.quiet();
    expect(again.session.state.calls.size).toBe(0);
    const late = await reading(again.session).soFar(world);
    expect(resets(late)).toEqual([{ type: "reset", attempt: 2, from: 2, keep: 0 }]);
    expect(resets(live.frames)).toEqual(resets(late));
    expect(applied(late)).toEqual(applied(live.frames));
  });

  it("that is slow misses nothing, and holds nobody", async () => {
    const said = Array.from({ length: 1200 }, (_, i) => `word ${i} `);
    const { world, session, told } = await begin((ctx) => ctx.stream(name, () => said).then((chunks) => chunks.length));
    const frames = session.stream("r:c1", { name });
    const first = await frames.next();
    await world.quiet();
    expect(told.payload).toBe(1200);
    const rest: Frame[] = [];
    for await (const frame of frames) rest.push(frame);
    expect(applied([first.value as Frame, ...rest])).toEqual(said);
  });

  it("that comes when the last of it is not durable yet is shown it once it is", async () => {
    const one = script();
    const world = new World(2);
    let isShut = false;
    let open: (() => void) | undefined;
    const faulty = {
      appendAll: async (...of: Parameters<typeof world.journal.appendAll>) => {
        if (isShut) await new Promise<void>((resolve) => (open = resolve));
        return world.journal.appendAll(...of);
      },
    };
    const { session } = await begin(awaiting(one), { world, faulty });
    await say(world, one, 4, 250);
    isShut = true;
    await say(world, one, 1);
    const { frames } = reading(session, { from: 0 });
    await world.quiet();
    expect(applied(frames)).toEqual(all.slice(0, 4));
    isShut = false;
    open?.();
    await world.quiet();
    expect(applied(frames)).toEqual(all);
  });

  it("waits for a stream that its call has yet to begin, and is told where there never was one", async () => {
    const one = script();
    const { world, session } = await begin(async (ctx) => {
      await ctx.sleep(1000);
      return ctx.stream(name, one.source);
    });
    const early = reading(session);
    const other = reading(session, { name: "other" });
    const unknown = reading(session, {}, "r:c9");
    await world.quiet();
    expect(unknown.error()).toMatchObject({ code: "stream_unknown" });
    world.platform.advance(1000);
    await world.quiet();
    await say(world, one, 6);
    expect(applied(early.frames)).toEqual(all);
    expect(other.error()).toMatchObject({ code: "stream_unknown" });
  });

  it("is refused a cursor beyond what there is, once nothing more comes; and an attempt that never began", async () => {
    const one = script();
    const { world, session } = await begin(awaiting(one));
    const patient = reading(session, { from: 7 });
    await say(world, one, 1, 250);
    const stranger = reading(session, { from: { attempt: 2, at: 1 } });
    await world.quiet();
    expect([patient.error(), stranger.error()]).toMatchObject([undefined, { code: "cursor_ahead" }]);
    await say(world, one, 5, 250);
    const late = reading(session, { from: 7 });
    await world.quiet();
    expect([patient.error(), late.error()]).toMatchObject([undefined, { code: "cursor_ahead" }]);
  });

  it("ends with its signal, and with the loss of the scope", async () => {
    const one = script();
    const { world, process, session } = await begin(awaiting(one));
    const over = new AbortController();
    const left = reading(session, { signal: over.signal });
    const lost = reading(session);
    await say(world, one, 1);
    over.abort();
    await world.quiet();
    expect(left.isOver()).toBe(true);
    session.runner.abandon("for a test");
    await world.quiet();
    expect(lost.error()).toMatchObject({ code: "scope_lost" });
    process.kill();
  });

  it("of a call that was cancelled is told that not all was said", async () => {
    const one = script();
    const { world, session } = await begin(awaiting(one));
    const { frames } = reading(session);
    await say(world, one, 2);
    await session.cancel({ request: "r" });
    await world.quiet();
    world.platform.advance(50);
    await world.quiet();
    expect(applied(frames)).toEqual(all.slice(0, 2));
    expect(frames.at(-1)).toEqual(end(2, false));
  });

  it("of a body that left its stream behind drops what was never on record, once, and is told that not all was said", async () => {
    const one = script();
    const leaving = async (ctx: ToolContext): Promise<string> => {
      void ctx.stream("words", one.source);
      return "over";
    };
    const { world, session, told } = await begin(leaving, { options: { effectsMs: 100 } });
    const { frames } = reading(session);
    await say(world, one, 2, 0);
    world.platform.advance(100);
    await world.quiet();
    expect(told.payload).toBe("over");
    expect(frames.slice(-2)).toEqual([{ type: "reset", attempt: 1, from: 0, keep: 0 }, end(0, false)]);
    expect(applied(frames)).toEqual([]);
  });

  it("goes on over the lives of a call, whose chunks count on", async () => {
    const one = script(words.slice(0, 1));
    const { world, session } = await begin(async (ctx) => {
      await ctx.stream(name, one.source);
      if (one.runs.length < 3) return ctx.continueAs({ n: one.runs.length });
      return "over";
    });
    await say(world, one, 3, 250);
    const frames = await reading(session).soFar(world);
    expect(applied(frames)).toEqual(["one 1", "one 2", "one 3"]);
    expect(frames.filter(({ type }) => type === "reset")).toEqual([
      { type: "reset", attempt: 2, from: 1, keep: 1 },
      { type: "reset", attempt: 3, from: 2, keep: 2 },
    ]);
  });
});
