import { describe, expect, it } from "vitest";
import { type Cursor, type Frame, type Subscription, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const quick = defineTool({
  name: "quick",
  durable: true,
  execute: (args, ctx) => {
    ctx.progress({ message: "half way", kind: "status" });
    return args;
  },
});
const last = defineTool({ name: "last", concurrency: "serial", execute: () => "last" });
const calls = (...tools: readonly string[]) => tools.map((tool, i) => ({ label: `c${i}`, tool, args: i }));

const taken = async (subscription: Subscription, count: number): Promise<readonly Frame[]> => {
  const frames: Frame[] = [];
  while (frames.length < count) {
    const next = await subscription.next();
    if (next.done === true) break;
    frames.push(next.value);
  }
  return frames;
};

/** Returns what a frame is, in one word. */
const word = (frame: Frame): string => {
  if (frame.type !== "observed") return frame.type;
  const { observation } = frame;
  return "call" in observation ? `${observation.type} ${observation.call}` : observation.type;
};
const words = (frames: readonly Frame[]): readonly string[] => frames.map(word).filter((one) => one !== "ephemeral");

const everything = ["call_started r:c0", "call_completed r:c0", "call_started r:c1", "call_completed r:c1"];

describe("an observer", () => {
  it("is told once of each start and end, under the name that decisions take, serial ones after parallel ones", async () => {
    const session = await new World().start([quick, last]).runtime.session("s");
    const subscription = session.observe();
    await session.request("r", calls("quick", "last"));
    const frames = await taken(subscription, 5);
    expect(words(frames)).toEqual(everything);
    const [start, end] = frames.filter(({ type }) => type === "observed");
    expect(start).toMatchObject({ observation: { call: "r:c0", label: "c0", tool: "quick", args: {} } });
    expect(end).toMatchObject({
      observation: { call: "r:c0", output: { outcome: { status: "success" } }, durationMs: 0 },
    });
    expect(frames.filter(({ type }) => type === "ephemeral")).toEqual([
      {
        type: "ephemeral",
        observation: { type: "progress", call: "r:c0", label: "c0", tool: "quick", text: "half way", kind: "status" },
      },
    ]);
  });

  it("sees from the log what it would have seen live, to the bit, from any cursor, also after a restart", async () => {
    const world = new World();
    const first = world.start([quick, last]);
    const session = await first.runtime.session("s");
    const live = session.observe();
    await session.request("r", calls("quick", "last"));
    const seen = (await taken(live, 5)).filter((frame) => frame.type === "observed");
    first.kill();
    const again = await world.start([quick, last]).runtime.session("s");
    const start: Cursor = { scope: "session:s", seq: 0, index: 0 };
    for (const [i, from] of [start, ...seen.map(({ cursor }) => cursor)].entries()) {
      expect(await taken(again.observe({ from }), seen.length - i)).toEqual(seen.slice(i));
    }
  });

  it("goes on live where the log ends", async () => {
    const session = await new World().start([quick, last]).runtime.session("s");
    await session.request("r", calls("quick", "last"));
    const subscription = session.observe({ from: { scope: "session:s", seq: 0, index: 0 } });
    const both = taken(subscription, 9);
    await session.request("r2", calls("quick", "last"));
    const again = everything.map((one) => one.replace(" r:", " r2:"));
    expect(words(await both)).toEqual([...everything, ...again]);
  });

  it("that is slow is told how many words of progress it missed, in their place", async () => {
    const talks = defineTool({
      name: "talks",
      durable: true,
      execute: (_, ctx) => {
        for (let i = 0; i < 5000; i++) ctx.progress({ message: `word ${i}`, kind: "text" });
        return "said";
      },
    });
    const session = await new World().start([talks]).runtime.session("s");
    const subscription = session.observe();
    await session.request("r", calls("talks"));
    const frames = await taken(subscription, 1026);
    const shown = frames.filter(({ type }) => type === "ephemeral").length;
    expect(shown).toBeGreaterThan(1000);
    expect(frames.at(-2)).toEqual({ type: "missed", count: 5000 - shown });
    expect(frames.at(-1)?.type).toBe("gap");
    await session.request("r2", calls("talks"));
    await session.request("r3", calls("talks"));
    expect((await taken(subscription, 1027)).slice(-2)).toMatchObject([
      { type: "gap" },
      { type: "missed", count: 5000 },
    ]);
  });

  it("that is slow misses what does not fit, is told which, and holds no tool", async () => {
    const session = await new World().start([quick, last]).runtime.session("s");
    const subscription = session.observe({ buffer: 3 });
    await session.request("r", calls("quick", "last"));
    const frames = await taken(subscription, 4);
    expect(frames.map(({ type }) => type)).toEqual(["observed", "ephemeral", "observed", "gap"]);
    const gap = frames[3];
    if (gap?.type !== "gap") throw new Error("no gap");
    await session.request("r2", calls("quick"));
    const missed = await taken(session.observe({ from: { ...gap.from, index: gap.from.index - 1 } }), 3);
    expect(words(missed)[0]).toBe("call_started r:c1");
    expect(words(await taken(subscription, 2))).toEqual(["call_started r2:c0"]);
  });

  it("hears that the scope was lost, and leaves without a trace", async () => {
    const world = new World();
    const first = world.start([quick]);
    const session = await first.runtime.session("s");
    const lost = session.observe();
    const left = session.observe();
    await left.return();
    expect(await left.next()).toEqual({ done: true, value: undefined });
    const second = world.start([quick]);
    await second.runtime.session("s");
    void session.request("r", calls("quick")).catch(() => undefined);
    await expect(lost.next()).rejects.toThrow("was lost");
  });

  it("that comes when the scope was lost is told, and does not wait for ever", async () => {
    const world = new World();
    const session = await world.start([quick]).runtime.session("s");
    await world.start([quick]).runtime.session("s");
    await expect(session.request("r", calls("quick"))).rejects.toMatchObject({ code: "scope_lost" });
    expect(() => session.observe()).toThrow(expect.objectContaining({ code: "scope_lost" }));
  });

  it("is refused with a cursor of another scope", async () => {
    const session = await new World().start([quick]).runtime.session("s");
    expect(() => session.observe({ from: { scope: "session:x", seq: 1, index: 0 } })).toThrow("the cursor is of");
  });

  it("is refused with a cursor that the log has not come to", async () => {
    const session = await new World().start([quick]).runtime.session("s");
    const { seq } = session.state;
    const ahead = (): Subscription => session.observe({ from: { scope: "session:s", seq: seq + 1, index: 0 } });
    expect(ahead).toThrow(`the log of session:s ends at ${seq}, the cursor is ${seq + 1}`);
    await session.observe({ from: { scope: "session:s", seq, index: 0 } }).return();
  });

  it("sees a parked call as started and not as completed", async () => {
    const world = new World();
    const asks = defineTool({ name: "asks", needsApproval: true, execute: () => 1 });
    const session = await world.start([asks]).runtime.session("s");
    const subscription = session.observe();
    void session.request("r", calls("asks"));
    expect(words(await taken(subscription, 2))).toEqual(["call_started r:c0", "call_parked r:c0"]);
  });
});
