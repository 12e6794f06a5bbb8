/** `ctx.stream`, as a body and the log have it: through crashes, cancels and attempts. */
import { done, failureOutput, safeRetryFailure } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import type { ToolContext } from "../src/index.ts";
import {
  type Body,
  type Script,
  World,
  all,
  awaiting,
  begin,
  logged,
  looping,
  numbered,
  reading,
  say,
  script,
  words,
} from "./stream-world.ts";

/** A failure that is safe to repeat. */
const busy = done(failureOutput(safeRetryFailure("external", "busy", "busy")));

/** A step for each chunk. */
const acting =
  ({ source }: Script, resume: boolean): Body =>
  async (ctx) => {
    const used: string[] = [];
    try {
      for await (const word of ctx.stream("words", source as Parameters<typeof ctx.stream<string>>[1], { resume }))
        used.push(await ctx.run(`use ${used.length}`, () => `used ${word}`, { input: word }));
    } catch (thrown) {
      return [...used, (thrown as { readonly code?: string }).code];
    }
    return used;
  };

/** Says one word, and fails. */
const failing = function* () {
  yield "one";
  throw new Error("the model is gone");
};
const oneWord = function* () {
  yield 1;
};
/** The code of the error that a promise comes to. */
const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "taken",
    (thrown: { readonly code?: unknown }) => thrown.code,
  );

const misuse: Body = async (ctx) => [
  await codeOf(ctx.stream("a", oneWord)),
  await codeOf(ctx.stream("a", oneWord)),
  await codeOf(ctx.stream(" ", oneWord)),
  await codeOf(
    ctx.stream("b", function* () {
      yield () => 1;
    }),
  ),
];

describe("a body", () => {
  it("awaits a stream whole, or hears it in a loop", async () => {
    for (const body of [awaiting, looping]) {
      const one = script();
      const { world, told } = await begin(body(one));
      await say(world, one, 6);
      expect(told.payload).toEqual(all);
    }
  });

  it("hears of a chunk in a loop when its group is on record, and not before", async () => {
    const one = script();
    const heard: unknown[] = [];
    const { world } = await begin(async (ctx) => {
      for await (const word of ctx.stream("words", one.source)) heard.push(word);
    });
    await say(world, one, 2);
    expect(heard).toEqual([]);
    await say(world, one, 1, 250);
    expect(heard).toEqual(all.slice(0, 3));
  });

  it("that was lost awaits what the next run of the producer says, and nothing of the one before", async () => {
    for (const body of [awaiting, looping]) {
      const one = script();
      const { world, process } = await begin(body(one));
      await say(world, one, 3, 250);
      process.kill();
      const again = await begin(body(one), { world });
      await say(world, one, 6, 250);
      expect(again.told.payload).toEqual(numbered(2));
      expect(one.runs.map(({ attempt, from }) => [attempt, from])).toEqual([
        [1, 0],
        [2, 3],
      ]);
    }
  });

  it("goes on where the record ends, if its producer does", async () => {
    for (const body of [awaiting, looping]) {
      const one = script();
      const { world, process } = await begin(body(one, { resume: true }));
      await say(world, one, 3, 250);
      process.kill();
      const again = await begin(body(one, { resume: true }), { world });
      await say(world, one, 3, 250);
      expect(one.runs[1]?.recorded).toEqual(all.slice(0, 3));
      expect(again.told.payload).toEqual([...all.slice(0, 3), ...numbered(2, words.slice(3))]);
    }
  });

  it("that acted on chunks does the same again, and goes on; or is told that its producer began anew", async () => {
    for (const resume of [true, false]) {
      const one = script();
      const { world, process } = await begin(acting(one, resume));
      await say(world, one, 3, 250);
      process.kill();
      const again = await begin(acting(one, resume), { world });
      await say(world, one, 3, 250);
      const used = all.slice(0, 3).map((word) => `used ${word}`);
      const rest = numbered(2, words.slice(3)).map((word) => `used ${word}`);
      if (resume) expect(again.told.payload).toEqual([...used, ...rest]);
      else expect((again.told.payload as unknown[]).at(-1)).toBe("stream_restarted");
      again.process.kill();
    }
  });

  it("comes to the same after each further crash", async () => {
    for (const resume of [true, false]) {
      const one = script();
      const world = new World(2);
      let told: { payload?: unknown } = {};
      for (let crash = 0; crash < 4; crash++) {
        const started = await begin(acting(one, resume), { world });
        ({ told } = started);
        await say(world, one, crash === 3 ? 9 : 1, 250);
        if (crash < 3) started.process.kill();
      }
      const diverged = await logged(world, "call.diverged");
      expect(diverged).toEqual([]);
      const steps = (told.payload as string[]).filter((step) => step.startsWith("used"));
      if (resume) expect(steps.map((step) => step.slice(5, -1))).toEqual(words);
      else expect(told.payload).toEqual(["used one 1", "stream_restarted"]);
    }
  });

  it("that leaves its loop has heard enough: the producer stops, and what it said is on record", async () => {
    const one = script();
    const { world, told } = await begin(async (ctx) => {
      const stream = ctx.stream("words", one.source);
      for await (const word of stream) if (word === all[1]) break;
      return stream;
    });
    await say(world, one, 2, 250);
    expect(told.payload).toEqual(all.slice(0, 2));
    expect(one.runs[0]?.signal.aborted).toBe(true);
  });

  it("hears of the failure of its producer, with what it said before", async () => {
    const { told } = await begin(async (ctx) => {
      const heard: unknown[] = [];
      try {
        for await (const word of ctx.stream("words", failing)) heard.push(word);
      } catch (thrown) {
        heard.push((thrown as Error).message);
      }
      return heard;
    });
    expect(told.payload).toEqual(["one", "the model is gone"]);
  });

  it("is refused a name twice, a chunk that is no JSON, and a stream under protocol 1", async () => {
    const { told } = await begin(misuse);
    expect(told.payload).toEqual([
      "taken",
      "durable_effect_duplicate_step_id",
      "durable_effect_empty_step_id",
      "durable_effect_value",
    ]);
    const old = await begin((ctx) => codeOf(ctx.stream("a", oneWord)), { world: new World(1) });
    expect(old.told.payload).toBe("needs_protocol_2");
  });

  it("that is cancelled in mid-stream leaves on record what was said", async () => {
    const one = script();
    const { world, session, told } = await begin(awaiting(one));
    await say(world, one, 2);
    await session.cancel({ request: "r" });
    await world.quiet();
    world.platform.advance(50);
    await world.quiet();
    expect(told.status).toBe("cancelled");
    const groups = await logged(world, "stream.recorded");
    expect(groups.flatMap(({ chunks }) => chunks)).toEqual(all.slice(0, 2));
  });

  it("that waits for a person behind its stream leaves memory, and has the stream again afterwards", async () => {
    const one = script();
    const { world, session, told } = await begin(async (ctx) => {
      const heard = await ctx.stream("words", one.source);
      await ctx.waitFor("go");
      return heard;
    });
    await say(world, one, 5, 250);
    world.platform.advance(2500);
    await world.quiet();
    expect(session.state.calls.at("r:c1")?.phase).toBe("suspended");
    const [wait] = session.state.waits.rows();
    await session.resolveById(wait?.key ?? "", { status: "ok", payload: 1 }, "ada");
    await world.quiet();
    expect([told.payload, one.runs.length]).toEqual([all, 1]);
  });

  it("has a stream of an earlier attempt whole, as a loop hears it too", async () => {
    const one = script();
    const world = new World(2);
    let attempts = 0;
    const body = async (ctx: ToolContext): Promise<unknown> => {
      const heard: unknown[] = [];
      for await (const word of ctx.stream("words", one.source))
        heard.push(await ctx.run(`use ${heard.length}`, () => word, { input: [word, ctx.now()] }));
      attempts += 1;
      return attempts === 1 ? busy : heard;
    };
    const retry = { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 };
    const { told } = await begin(body, { world }, { retry });
    await say(world, one, 6, 250);
    expect([told.payload, one.runs.length, attempts]).toEqual([all, 1, 2]);
  });
});

describe("the log of a stream", () => {
  it("has a group every 250 ms, or 4 KB, and each names its place", async () => {
    const one = script(Array.from({ length: 40 }, (_, i) => `${i} `));
    const { world } = await begin(awaiting(one));
    await say(world, one, 41, 20);
    const groups = await logged(world, "stream.recorded");
    expect(groups.map(({ from, chunks }) => [from, chunks.length])).toEqual([
      [0, 13],
      [13, 13],
      [26, 13],
      [39, 1],
    ]);
    expect(groups.map(({ last }) => last === true)).toEqual([false, false, false, true]);
    const big = script(["x".repeat(3000), "y".repeat(3000), "z"]);
    const other = await begin(awaiting(big));
    await say(other.world, big, 3, 0);
    expect((await logged(other.world, "stream.recorded")).map(({ chunks }) => chunks.length)).toEqual([2, 1]);
  });

  it("is bounded: a producer that says more is stopped, and its body told", async () => {
    const options = { maxStreamChunks: 3 };
    const one = script();
    const { world, told, session } = await begin((ctx) => codeOf(ctx.stream("words", one.source)), { options });
    const { frames } = reading(session);
    await say(world, one, 5);
    expect(told.payload).toBe("stream_full");
    expect(frames.flatMap((frame) => (frame.type === "chunks" ? frame.chunks : []))).toEqual(all.slice(0, 3));
    const bytes = await begin(
      (ctx) =>
        codeOf(
          ctx.stream("words", function* () {
            for (;;) yield "x".repeat(1000);
          }),
        ),
      { options: { maxStreamBytes: 10_000 } },
    );
    expect(bytes.told.payload).toBe("stream_full");
  });

  it("holds a producer back that is ahead of the disk", async () => {
    let said = 0;
    const world = new World(2);
    let open: (() => void) | undefined;
    const faulty = {
      appendAll: async (...of: Parameters<typeof world.journal.appendAll>) => {
        if (said > 0 && said < 200) await new Promise<void>((resolve) => (open = resolve));
        return world.journal.appendAll(...of);
      },
    };
    await begin(
      (ctx) =>
        ctx
          .stream("words", function* () {
            for (;;) {
              said += 1;
              yield "x".repeat(1000);
            }
          })
          .catch(() => 0),
      { world, faulty },
    );
    expect(said).toBeGreaterThan(60);
    expect(said).toBeLessThan(120);
    said = 200; // From here on the disk is quick.
    open?.();
    await world.quiet();
    expect(said).toBeGreaterThan(300);
  });
});
