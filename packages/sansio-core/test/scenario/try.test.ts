/** Steps that are tried again: which try is next, when it is due, and whose result counts. */
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { ask as verdictOn } from "../../src/call/effect/ask.ts";
import { nextDeadline } from "../../src/machine.ts";
import type { Rig } from "../rig.ts";
import { type Run, ask, busy, crash, of, resume, running, settle, step, want } from "./words.ts";

const error = { code: "busy", message: "try again" };
const called = (recovery: "again" | "idempotent" | "once" = "again"): Rig =>
  ask(running({}, {}, 2), "r:a", "s", step(recovery)).skip();

const failed = (number: number, retry_in_ms: number, run?: Run): Event => ({
  type: "step.failed",
  ...of("r:a", run),
  key: "s",
  try: number,
  error,
  retry_in_ms,
});
const ok = (number?: number, run?: Run): Event => ({
  type: "step.settled",
  ...of("r:a", run),
  key: "s",
  result: { status: "ok", value: 1 },
  ...(number === undefined ? {} : { try: number }),
});
const err = (number?: number, run?: Run): Event => ({ ...ok(number, run), result: { status: "err", error } }) as Event;
const asked = (rig: Rig, [attempt, run]: Run) =>
  verdictOn(rig.state, { call: "r:a", attempt, run, key: "s", kind: "step", hash: "h:s" });

describe("a step that is tried again", () => {
  it("is due after its delay, counted from the failure that is on record", () => {
    const rig = called().tell(failed(1, 100)).nothingMore();
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 100);
    rig.tick(99).nothingMore();
    want(rig.tick(1), { type: "step.run", key: "s", attempt: 1, run: 1, try: 2 });
  });

  it("waits beside another that is due at the same time, whichever failed first", () => {
    const rig = ask(called(), "r:a", "t", step()).skip();
    rig.tell({ ...failed(1, 100), key: "t" } as Event).tell(failed(1, 100));
    want(rig.tick(100), { type: "step.run", key: "t" }, { type: "step.run", key: "s" });
  });

  it("is tried at once without a delay", () => {
    want(called().tell(failed(1, 0)), { type: "step.run", key: "s", try: 2 });
  });

  it("settles by the result of its try, good or bad", () => {
    const rig = called().tell(failed(1, 0)).skip();
    want(rig.tell(err(2)), { type: "step.answer", key: "s" });
    const other = called().tell(failed(1, 0)).skip().tell(failed(2, 0)).skip();
    want(other.tell(ok(3)), { type: "step.answer", key: "s" });
  });

  it("settles by the late success of an earlier try: while it waits, and while a later one runs", () => {
    want(called().tell(failed(1, 100)).tell(ok(1)), { type: "step.answer", key: "s" });
    const rig = called().tell(failed(1, 100)).tick(100).skip();
    want(rig.tell(ok()), { type: "step.answer", key: "s" });
    rig.refuses(ok(2), "effect_settled");
    expect(nextDeadline(rig.state)).toBeUndefined();
  });

  it("takes no late failure, and no result of a try that has not begun", () => {
    const rig = called().tell(failed(1, 100));
    rig.refuses(err(1), "stale_try").refuses(failed(1, 0), "stale_try");
    rig.refuses(ok(2), "stale_try").refuses(err(2), "stale_try").refuses(failed(2, 0), "stale_try");
    rig.tick(100).skip().refuses(err(1), "stale_try").refuses(ok(3), "stale_try");
  });

  it("repeats the try that a crash interrupted", () => {
    const rig = called().tell(failed(1, 0)).skip();
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]);
    expect(asked(rig, [1, 2])).toEqual({ type: "run", try: 2 });
    want(rig.tell(failed(2, 0, [1, 2])), { type: "step.run", run: 2, try: 3 });
  });

  it("goes on waiting through a crash, for the rest of its delay", () => {
    const rig = called().tell(failed(1, 1000)).after(400);
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]);
    expect(asked(rig, [1, 2])).toEqual({ type: "join" });
    rig.tick(599).nothingMore();
    want(rig.tick(1), { type: "step.run", key: "s", run: 2, try: 2 });
  });

  it("is left to the next run where its delay ends while nobody runs the body", () => {
    const rig = called().tell(failed(1, 10));
    crash(rig).skip();
    rig.tick(10).nothingMore();
    resume(rig, "r:a", [1, 2]);
    expect(asked(rig, [1, 2])).toEqual({ type: "run", try: 2 });
  });

  it("wakes a body that was suspended meanwhile", () => {
    const rig = called().tell(failed(1, 5000));
    rig.tell({ type: "call.suspended", ...of("r:a") }).nothingMore();
    want(rig.tick(5000), { type: "tool.execute", call: "r:a", run: 2, cause: "suspended" });
    resume(rig, "r:a", [1, 2], "suspended");
    expect(asked(rig, [1, 2])).toEqual({ type: "run", try: 2 });
  });

  it("begins with its first try in the next attempt", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = ask(running({ retry_policy }, {}, 2), "r:a", "s", step()).skip();
    rig.tell(failed(1, 100));
    settle(rig, "r:a", busy()).skip();
    want(ask(rig, "r:a", "s", step(), [2, 1]), { type: "step.run", attempt: 2, key: "s" });
    rig.tell(failed(1, 0, [2, 1])).skip();
  });

  it("counts as a record: losses without one are counted anew after it", () => {
    const rig = called();
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]);
    const hasRecord = (): boolean => {
      const row = rig.state.calls.at("r:a");
      return row?.phase === "running" && row.body.hasRecord;
    };
    expect(hasRecord()).toBe(false);
    rig.tell(failed(1, 0, [1, 2])).skip();
    expect(hasRecord()).toBe(true);
  });

  it("has no second try where it may run only once", () => {
    called("once").refuses(failed(1, 0), "wrong_phase");
  });

  it("is refused in a scope of protocol 1", () => {
    const rig = ask(running({}, {}, 1), "r:a", "s", step()).skip();
    rig.refuses(failed(1, 0), "needs_protocol_2").refuses(ok(1), "needs_protocol_2");
    want(rig.tell(ok()), { type: "step.answer", key: "s" });
  });
});
