/** Streams: what a step says is on record in groups, with numbers that stay, whatever becomes of its producer. */
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { streamIn, type StreamRow } from "../../src/call/effect/stream.ts";
import { referredTo } from "../../src/snapshot/same.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { restore } from "../../src/snapshot/restore.ts";
import * as E from "fp-ts/lib/Either.js";
import type { Rig } from "../rig.ts";
import { type Run, ask, busy, crash, of, resume, running, settle, want } from "./words.ts";

const streaming = (name = "words", resumes = false) =>
  ({ kind: "step", recovery: "again", input: null, stream: resumes ? { name, resumes } : { name } }) as const;
const asked = (rig: Rig, resumes = false): Rig => ask(rig, "r:a", "s", streaming("words", resumes)).skip();
const rowOf = (rig: Rig): StreamRow => {
  const row = streamIn(rig.state, "r:a", "words");
  if (row === undefined) throw new Error("there is no stream `words`");
  return row;
};
/** The next group of a stream, as its producer reports it. */
const group = (rig: Rig, chunks: readonly string[], more: { readonly last?: boolean } = {}): Event => {
  const { attempts, chunks: from, last } = rowOf(rig);
  const after = last === undefined ? {} : { after: last };
  return {
    type: "stream.recorded",
    call: "r:a",
    stream: "words",
    attempt: attempts.length,
    from,
    ...after,
    chunks,
    ...more,
  };
};
/** Its producer reports it. */
const say = (rig: Rig, chunks: readonly string[], more: { readonly last?: boolean } = {}): Rig =>
  rig.tell(group(rig, chunks, more)).skip();
const reset = (rig: Rig): Event => {
  const { attempts, chunks: from, last, resumes } = rowOf(rig);
  const after = last === undefined ? {} : { after: last };
  const keep = resumes ? { keep: attempts.at(-1)?.keep ?? 0 } : {};
  return { type: "stream.reset", call: "r:a", stream: "words", attempt: attempts.length + 1, from, ...after, ...keep };
};
const done = (run?: Run): Event => ({
  type: "step.settled",
  ...of("r:a", run),
  key: "s",
  result: { status: "ok", value: null },
});
const lost = (rig: Rig, run: Run): Rig => {
  crash(rig).skip();
  return resume(rig, "r:a", run).skip();
};

/** How many crashes in a row are counted while a producer is lost again and again. */
const crashesOf = (resumes: boolean): number => {
  const rig = asked(running({}, {}, 2), resumes);
  for (let run = 2; run < 4; run++) {
    say(rig, ["a"]);
    lost(rig, [1, run]).tell(reset(rig)).skip();
  }
  const row = rig.state.calls.at("r:a");
  return row !== undefined && "body" in row ? (row.body?.resumes ?? 0) : -1;
};

describe("a stream", () => {
  it("is on record in groups, whose chunks count on; its body is told of each", () => {
    const rig = asked(running({}, {}, 2));
    want(rig.tell(group(rig, ["a", "b"])), { type: "stream.answer", key: "s" });
    say(rig, ["c"], { last: true });
    expect(rowOf(rig)).toMatchObject({ chunks: 3, bytes: 3, isDone: true, groups: [{ from: 0 }, { from: 2 }] });
    want(rig.tell(done()), { type: "step.answer", key: "s" });
  });

  it("begins again after a crash where the record ends: a stale group and a stale reset are refused", () => {
    const rig = asked(running({}, {}, 2));
    say(rig, ["a", "b"]);
    const stale = group(rig, ["c"]);
    lost(rig, [1, 2]).refuses(stale, "stale_stream");
    const again = reset(rig);
    rig.tell(again).nothingMore();
    expect(rowOf(rig).attempts.map(({ from, keep }) => [from, keep])).toEqual([
      [0, 0],
      [2, 2],
    ]);
    rig.refuses(stale, "stale_stream").refuses(again, "stale_stream");
    say(rig, ["x"]);
    expect(rowOf(rig).groups.map(({ from }) => from)).toEqual([0, 2]);
  });

  it("goes on with what it has said where its producer resumes", () => {
    const rig = asked(running({}, {}, 2), true);
    say(rig, ["a", "b"]);
    say(lost(rig, [1, 2]).tell(reset(rig)), ["c"]);
    lost(rig, [1, 3]).tell(reset(rig)).nothingMore();
    expect(rowOf(rig).attempts.map(({ from, keep }) => [from, keep])).toEqual([
      [0, 0],
      [2, 0],
      [3, 0],
    ]);
  });

  it("keeps its numbers over attempts and lives of the call", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = asked(running({ retry_policy }, {}, 2));
    say(rig, ["a"], { last: true })
      .tell({ ...done(), result: { status: "err", error: { code: "c", message: "m" } } } as Event)
      .skip();
    settle(rig, "r:a", busy()).skip();
    ask(rig, "r:a", "s", streaming(), [2, 1]).skip();
    expect(rowOf(rig)).toMatchObject({ chunks: 1, isDone: false, attempts: [{ from: 0 }, { from: 1, keep: 1 }] });
    say(rig, ["b"], { last: true })
      .tell(done([2, 1]))
      .skip();
    rig.tell({ type: "call.continued", ...of("r:a", [2, 1]), args: null, args_hash: "h", signals: [] }).skip();
    resume(rig, "r:a", [2, 2]).skip();
    ask(rig, "r:a", "life:2:s", streaming(), [2, 2]).skip();
    expect(rowOf(rig)).toMatchObject({ chunks: 2, attempts: [{}, {}, { from: 2, keep: 2 }] });
  });

  it("is refused beyond its bounds, and where nothing fills it", () => {
    const rig = asked(running({}, { max_stream_chunks: 2, max_stream_bytes: 5 }, 2));
    rig.refuses(group(rig, ["a", "b", "c"]), "stream_full").refuses(group(rig, ["äöü"]), "stream_full");
    say(rig, ["äö", "1"], { last: true });
    expect(rowOf(rig)).toMatchObject({ chunks: 2, bytes: 5 });
    rig.refuses(group(rig, []), "stream_unknown");
    rig.refuses({ ...group(rig, []), stream: "other" } as Event, "stream_unknown");
    rig.tell(done()).skip().refuses(group(rig, []), "stream_unknown");
  });

  it("has one step that fills it, which has to be able to run again", () => {
    const rig = asked(running({}, {}, 2));
    const other: Event = { type: "effect.requested", ...of("r:a"), key: "t", hash: "h", effect: streaming() };
    rig.refuses(other, "effect_exists");
    rig.refuses({ ...other, effect: { ...streaming("more"), recovery: "once" } }, "wrong_phase");
  });

  it("is refused under protocol 1", () => {
    const rig = running({}, {}, 1);
    const effect: Event = { type: "effect.requested", ...of("r:a"), key: "s", hash: "h", effect: streaming() };
    rig.refuses(effect, "needs_protocol_2");
    const recorded: Event = { type: "stream.recorded", call: "r:a", stream: "words", attempt: 1, from: 0, chunks: [] };
    rig.refuses(recorded, "needs_protocol_2").refuses({ ...recorded, type: "stream.reset" }, "needs_protocol_2");
  });

  it("is no progress of a body, unless its producer resumes: a crash loop is counted", () => {
    expect([crashesOf(false), crashesOf(true)]).toEqual([1, 0]);
  });

  it("keeps the lines of its groups while its call has a body, and is found from its last event afterwards", () => {
    const rig = asked(running({}, {}, 2));
    say(say(rig, ["a"]), ["b"], { last: true });
    const seqs = rowOf(rig).groups.map(({ seq }) => seq);
    expect(referredTo(rig.state)).toEqual(expect.arrayContaining(seqs));
    const end = rig
      .tell(done())
      .skip()
      .offer({
        type: "call.settled",
        ...of("r:a"),
        result: { type: "done", output: { outcome: { status: "success", payload: 1 } } },
        duration_ms: 1,
      });
    expect(E.isRight(end) && end.right.finished).toContainEqual({ kind: "stream", id: "r:a/words", seq: seqs[1] });
  });

  it("is the same after a snapshot", () => {
    const rig = asked(running({}, {}, 2), true);
    say(rig, ["a", "b"]);
    say(lost(rig, [1, 2]).tell(reset(rig)), ["c"], { last: true });
    const again = restore(snapshot(rig.state));
    expect(E.isRight(again) && streamIn(again.right, "r:a", "words")).toEqual(rowOf(rig));
  });
});
