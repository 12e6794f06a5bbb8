/** Streams over the wire: live and late, over reconnections, to readers that are slow, and to one that asks by a number. */
import { defineTool } from "@pawl/runtime";
import type { StreamFrame } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { until } from "../until.ts";
import { clientOf, greeted, hostOf } from "./rig.ts";
import { use } from "./tools.ts";

/** A tool that says words when it is let. */
const talking = () => {
  let go: (() => void) | undefined;
  const said = { words: [] as string[], isOver: false };
  const tool = defineTool({
    name: "talks",
    durable: true,
    execute: (_, ctx) =>
      ctx.stream("words", async function* () {
        for (let n = 0; !said.isOver || n < said.words.length;) {
          if (n < said.words.length) yield said.words[n++] as string;
          else await new Promise<void>((resolve) => (go = resolve));
        }
      }),
  });
  const say = (...words: readonly string[]): void => {
    said.words.push(...words);
    go?.();
  };
  const end = (): void => {
    said.isOver = true;
    go?.();
  };
  return { tool, say, end };
};

const applied = (frames: readonly StreamFrame[]): readonly unknown[] => {
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

const all = async (frames: AsyncIterable<StreamFrame>, into: StreamFrame[] = []): Promise<readonly StreamFrame[]> => {
  for await (const frame of frames) into.push(frame);
  return into;
};
const words = Array.from({ length: 60 }, (_, i) => `word ${i} `);

describe("a stream over the wire", () => {
  it("is read as it is said, and goes on over reconnections", async () => {
    const { tool, say, end } = talking();
    const host = await hostOf([tool]);
    const client = clientOf(host);
    const session = client.session("s");
    const called = session.request("r", use("talks"));
    await until(() => host.runtime !== undefined);
    const live = await host.runtime.session("s");
    await until(() => live.state.calls.size > 0);
    const heard: StreamFrame[] = [];
    const reading = all(session.stream("r:c", { name: "words" }), heard);
    for (const word of words) {
      say(word);
      await until(() => applied(heard).at(-1) === word);
      if (word.endsWith("5 ")) client.reconnect();
    }
    expect(heard.some((frame) => frame.type === "chunks" && !frame.isRecorded)).toBe(true);
    end();
    expect(applied(await reading)).toEqual(words);
    expect(heard.at(-1)).toEqual({ type: "end", attempt: 1, at: 60, isDone: true });
    await called;
    for (const from of [0, 17, { attempt: 1, at: 60 }]) {
      const late = await all(session.stream("r:c", { name: "words", from }));
      const at = typeof from === "number" ? from : from.at;
      expect(late.flatMap((frame) => (frame.type === "chunks" ? frame.chunks : []))).toEqual(words.slice(at));
    }
  });

  it("sends no more than its window ahead of a client that is slow, which has all in the end", async () => {
    const { tool, say, end } = talking();
    const host = await hostOf([tool]);
    const session = await host.runtime.session("s");
    const called = session.request("r", use("talks"));
    await until(() => session.state.calls.size > 0);
    const raw = await greeted(host);
    raw.send({ type: "stream", id: 2, scope: "session:s", call: "r:c", name: "words", window: 2 });
    const streamed = () => raw.heard.filter(({ type }) => type === "streamed");
    for (const word of words) say(word);
    end();
    await called;
    expect(streamed().length).toBeLessThanOrEqual(2);
    for (let n = 1; !raw.heard.some(({ type }) => type === "done"); n++) {
      await until(() => streamed().length >= n || raw.heard.some(({ type }) => type === "done"));
      raw.send({ type: "seen", id: 2, cursor: n });
    }
    expect(applied(streamed().map(({ frame }) => frame as StreamFrame))).toEqual(words);
  });

  it("is refused for a call that never was, and to a token without the right to observe", async () => {
    const { tool } = talking();
    const host = await hostOf([tool]);
    await host.runtime.session("s");
    const stranger = clientOf(host).session("s").stream("r:c", { name: "words" });
    await expect(all(stranger)).rejects.toMatchObject({ code: "stream_unknown" });
    const blind = clientOf(host, { rights: ["call"] })
      .session("s")
      .stream("r:c", { name: "words" });
    await expect(all(blind)).rejects.toMatchObject({ code: "permission_denied" });
  });
});
