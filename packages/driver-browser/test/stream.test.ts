/** Streams that a tab reads which does not write: whoever writes is asked by the channel, and the next writer after it. */
import { Refused, type Runtime, type Session } from "@pawl/runtime";
import { type StreamFrame, type StreamOptions, cursorAfter } from "@pawl/runtime/driver";
import { expect, it } from "vitest";
import { World, all, awaiting, begin, numbered, say, script, words } from "../../runtime/test/stream-world.ts";
import type { TabMessage } from "../src/tab/message.ts";
import { type StreamPort, StreamServer, readStream } from "../src/tab/stream.ts";

/** The locks of a browser: one holder a name, who is first come first served. */
class Locks {
  readonly #queues = new Map<string, Promise<unknown>>();

  request(name: string, ...rest: readonly unknown[]): Promise<unknown> {
    const [how, work] = (rest.length === 1 ? [{}, rest[0]] : rest) as [
      { readonly signal?: AbortSignal },
      () => unknown,
    ];
    const before = this.#queues.get(name) ?? Promise.resolve();
    const mine = before.then(() => {
      if (how.signal?.aborted === true) throw how.signal.reason;
      return work();
    });
    this.#queues.set(
      name,
      mine.catch(() => undefined),
    );
    return mine;
  }
}

type Spoken = Pick<Session, "stream">;

/** Tabs that hear each other, one message after the other. */
class Browser {
  readonly locks = new Locks() as unknown as StreamPort["locks"];
  readonly #tabs = new Set<(message: TabMessage) => void>();
  readonly said: TabMessage[] = [];

  tab() {
    const hearers = new Set<(message: TabMessage) => void>();
    const tell = (message: TabMessage): void => {
      for (const hearer of hearers) hearer(message);
    };
    this.#tabs.add(tell);
    const announce = (message: TabMessage): void => {
      this.said.push(message);
      tell(message);
      const copy = structuredClone(message);
      for (const other of this.#tabs) if (other !== tell) setImmediate(() => other(copy));
    };
    const hear = (hearer: (message: TabMessage) => void): (() => void) => {
      hearers.add(hearer);
      return () => void hearers.delete(hearer);
    };
    return { hear, announce, leave: () => void this.#tabs.delete(tell) };
  }

  port(writer: string, session?: Spoken): StreamPort & { readonly at: { isWriting: boolean } } {
    const at = { isWriting: session !== undefined };
    const runtime = { has: async (scope: string) => scope === "session:s", session: async () => session };
    return {
      channel: this.tab(),
      locks: this.locks,
      writer,
      at,
      isWriting: () => at.isWriting,
      runtime: async () => runtime as unknown as Runtime,
      left: new AbortController().signal,
      cursorAfter,
      Refused,
    };
  }

  /** A tab that writes, and says so to whoever asks. */
  writer(name: string, session: Spoken) {
    const port = this.port(name, session);
    const server = new StreamServer(port);
    port.channel.hear((message) => {
      server.take(message);
      if (message.type === "asked" && port.at.isWriting) port.channel.announce({ type: "beat", writer: name });
    });
    port.channel.announce({ type: "beat", writer: name });
    return port;
  }
}

const reading = (browser: Browser, options: Partial<StreamOptions> = {}, scope = "session:s") => {
  const frames: StreamFrame[] = [];
  const leave = new AbortController();
  const source = readStream(
    browser.port("reader"),
    { scope, call: "r:c1" },
    { name: "words", signal: leave.signal, ...options },
  );
  const over = (async () => {
    for await (const frame of source) frames.push(frame);
    return "over";
  })().catch((thrown: unknown) => thrown);
  return { frames, leave, over };
};

/** The words that a reader has, once it has dropped what it was told to drop. */
const keptOf = (frames: readonly StreamFrame[]): readonly unknown[] => {
  let kept: unknown[] = [];
  let first = 0;
  for (const frame of frames) {
    if (frame.type === "reset") {
      kept = kept.slice(0, frame.from);
      first = frame.keep;
    }
    if (frame.type === "chunks") kept.push(...frame.chunks);
  }
  return kept.slice(first);
};

it("are shown there word by word, before that is on record", async () => {
  const one = script();
  const { world, session } = await begin(awaiting(one));
  const browser = new Browser();
  browser.writer("w1", session);
  const there = reading(browser);
  await say(world, one, 2, 5);
  expect(there.frames).toEqual([
    { type: "chunks", from: 0, attempt: 1, isRecorded: false, chunks: [all[0]] },
    { type: "chunks", from: 1, attempt: 1, isRecorded: false, chunks: [all[1]] },
  ]);
  await say(world, one, 6, 300);
  expect(await there.over).toBe("over");
  expect(keptOf(there.frames)).toEqual(all);
  expect(there.frames.at(-1)).toEqual({ type: "end", attempt: 1, at: 5, isDone: true });
});

it("are read late, from any place, before and after their end", async () => {
  const one = script();
  const { world, session } = await begin(awaiting(one));
  const browser = new Browser();
  browser.writer("w1", session);
  await say(world, one, 3, 300);
  const before = [reading(browser, { from: 1 }), reading(browser, { from: { attempt: 1, at: 2 } })];
  await say(world, one, 4, 300);
  const after = [reading(browser, { from: 4 }), reading(browser, { from: 5 }), reading(browser)];
  await world.quiet();
  const found = [];
  for (const { frames, over } of [...before, ...after]) {
    expect(await over).toBe("over");
    found.push(keptOf(frames));
  }
  expect(found).toEqual([all.slice(1), all.slice(2), all.slice(4), [], all]);
  expect(before[0]?.frames.every((frame) => frame.type !== "chunks" || frame.isRecorded)).toBe(true);
});

it("go on with the next writer, and what the first one had shown for nothing is dropped", async () => {
  const [one, two] = [script(), script()];
  const world = new World(2);
  const { session, process } = await begin(awaiting(one), { world });
  const browser = new Browser();
  const first = browser.writer("w1", session);
  const live = reading(browser);
  const counting = reading(browser, { from: 0 });
  await say(world, one, 2, 300);
  await say(world, one, 1, 5);
  expect(keptOf(live.frames)).toEqual(all.slice(0, 3));
  process.kill();
  const next = await begin(awaiting(two), { world });
  browser.writer("w2", next.session);
  await world.quiet();
  expect(first.isWriting()).toBe(true); // It does not know yet, and nobody hears it.
  await say(world, two, 7, 300);
  expect([await live.over, await counting.over]).toEqual(["over", "over"]);
  expect(keptOf(live.frames)).toEqual(numbered(2));
  expect(keptOf(counting.frames)).toEqual([...all.slice(0, 2), ...numbered(2)]); // The record, whose numbers hold for good.
  expect(live.frames.find(({ type }) => type === "reset")).toMatchObject({ attempt: 2, from: 2, keep: 2 });
});

it("are left by the writer when a reader leaves, or its tab is gone", async () => {
  const one = script();
  const { world, session } = await begin(awaiting(one));
  const browser = new Browser();
  const signals: AbortSignal[] = [];
  const stream: Spoken["stream"] = (call, how) => {
    if (how.signal !== undefined) signals.push(how.signal);
    return session.stream(call, how);
  };
  browser.writer("w1", { stream });
  const [gone, stays] = [reading(browser), reading(browser)];
  await say(world, one, 1, 5);
  gone.leave.abort();
  await world.quiet();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(await gone.over).toBe("over");
  await say(world, one, words.length + 1, 300);
  expect(await stays.over).toBe("over");
});

it("are refused there with the code that the writer is told", async () => {
  const { session, world } = await begin(async () => "nothing");
  const browser = new Browser();
  browser.writer("w1", session);
  const there = reading(browser, { name: "none" });
  await world.quiet();
  expect(await there.over).toMatchObject({ name: "Refused", code: "stream_unknown" });
  for (const scope of ["session:none", "none"])
    expect(await reading(browser, {}, scope).over).toMatchObject({ name: "Refused", code: "stream_unknown" });
});

it("wait for a writer where there is none yet", async () => {
  const one = script();
  const { world, session } = await begin(awaiting(one));
  await say(world, one, 6, 300);
  const browser = new Browser();
  const early = reading(browser);
  await world.quiet();
  expect(early.frames).toEqual([]);
  browser.writer("w1", session);
  await world.quiet();
  expect(await early.over).toBe("over");
  expect(keptOf(early.frames)).toEqual(all);
});
