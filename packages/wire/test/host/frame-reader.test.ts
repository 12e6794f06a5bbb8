/** Long frames: read and written in slices, with the same outcome as in one piece, and in their order. */
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { ClientFrame, HostFrame, frameSlices, frameText, readFrame, readSlices } from "../../src/frame/index.ts";
import { FrameReader } from "../../src/host/frame-reader.ts";
import { SendTurns } from "../../src/host/outgoing.ts";
import { defaultHostLimits } from "../../src/host/limits.ts";

const most = defaultHostLimits.maxMessageBytes;

const callOf = (calls: readonly unknown[], id = 1) =>
  JSON.stringify({ type: "call", id, scope: "session:s", request: "r", calls, traceparent: "t" });

const many = (count: number): { id: string; tool: string; args: unknown }[] =>
  Array.from({ length: count }, (_, n) => ({ id: `c${n}`, tool: "echo", args: { n, text: "x".repeat(20) } }));

const inSlices = (text: string) => {
  const slices = readSlices(text, most);
  for (let count = 1; ; count += 1) {
    const { done, value } = slices.next();
    if (done === true) return { read: value, count };
  }
};

describe("a long frame", () => {
  it("is read in slices as in one piece", () => {
    const text = callOf(many(2000));
    const { read, count } = inSlices(text);
    expect(read).toEqual(readFrame(ClientFrame, text, most));
    expect(count).toBe(5);
  });

  it("is refused with the words of one that is read in one piece", () => {
    const wrong = many(2000);
    Object.assign(wrong[1500] as object, { tool: 5 });
    for (const text of [callOf(wrong), callOf(many(2000)).replace('"scope":"session:s"', '"scope":7'), "x", "[]"]) {
      const { read } = inSlices(text);
      expect(E.isLeft(read)).toBe(true);
      expect(read).toEqual(readFrame(ClientFrame, text, most));
    }
  });

  it("is written in slices as in one piece", () => {
    const output = { outcome: { status: "success", payload: { b: 1, a: "x" } }, control: null, state: null };
    const reply = (n: number) => ({
      call: `r:c${n}`,
      label: `c${n}`,
      tool: "echo",
      args: { n },
      output,
      durationMs: 1,
    });
    const frame = { type: "replied", id: 1, replies: Array.from({ length: 3000 }, (_, n) => reply(n)), triggers: [1] };
    const text = frameText(HostFrame, frame as unknown as HostFrame);
    const slices = frameSlices(frame as unknown as HostFrame);
    let next = slices.next();
    let count = 1;
    for (; next.done !== true; next = slices.next()) count += 1;
    expect(next.value === text).toBe(true);
    expect(count).toBeGreaterThan(6);
  });
});

/** A reader whose turns of the event loop come when the test says so. */
const readerOf = (canPause: boolean) => {
  const turns: (() => void)[] = [];
  const clock = { now: () => 0, later: () => () => undefined, nextTurn: (go: () => void) => void turns.push(go) };
  const said: string[] = [];
  const socket = {
    isOpen: true,
    buffered: 0,
    send: () => undefined,
    close: () => undefined,
    welcomed: () => undefined,
    ...(canPause ? { pause: () => void said.push("paused"), resume: () => void said.push("resumed") } : {}),
  };
  const sendTurns = new SendTurns(defaultHostLimits, clock);
  const reader = new FrameReader(socket, { limits: defaultHostLimits, turns: sendTurns }, (frame) =>
    said.push(
      E.isLeft(frame) ? frame.left.message : `${frame.right.type} ${"id" in frame.right ? frame.right.id : ""}`,
    ),
  );
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) {
      turns.shift()?.();
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { reader, said, socket, settle };
};

const ping = JSON.stringify({ type: "ping", n: 1 });

describe("the frames of a client", () => {
  it("are taken in their order, also behind a long one; meanwhile its socket is not read", async () => {
    const { reader, said, settle } = readerOf(true);
    reader.receive(callOf(many(1), 1));
    reader.receive(callOf(many(2000), 2));
    reader.receive(ping);
    reader.receive(callOf(many(2000), 3));
    reader.receive(undefined);
    expect(said).toEqual(["call 1", "paused"]);
    await settle();
    expect(said).toEqual([
      "call 1",
      "paused",
      "call 2",
      "ping ",
      "call 3",
      "expected a text frame, found a binary one",
      "resumed",
    ]);
    reader.receive(ping);
    expect(said.at(-1)).toBe("ping ");
  });

  it("are dropped where the connection closes while a long one is read", async () => {
    const { reader, said, socket, settle } = readerOf(true);
    reader.receive(callOf(many(2000)));
    reader.receive(ping);
    socket.isOpen = false;
    await settle();
    expect(said).toEqual(["paused", "resumed"]);
  });

  it("are read in one piece where the platform cannot pause a socket", () => {
    const { reader, said } = readerOf(false);
    reader.receive(callOf(many(2000), 7));
    expect(said).toEqual(["call 7"]);
  });
});
