import { describe, expect, it } from "vitest";
import type { EffectSpec } from "../../src/call/effect/effect.ts";
import { nextDeadline } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  cancel,
  cancelled,
  completed,
  crash,
  execute,
  gone,
  of,
  replied,
  settle,
  step,
  stepOk,
  stop,
  submit,
  success,
  want,
  type Wanted,
} from "./words.ts";

const durable = tool("durable");
const cleanup = { kind: "cleanup", deadline_ms: 10_000 } as const;
const wait = { kind: "wait", wait: "w" } as const;
const answer = (key: string): Wanted => ({ type: "step.answer", key });
const cleanedUp = (rig: Rig, call: string, run = 1): Rig =>
  rig.tell({ type: "call.cleaned_up", ...of(call, [1, run]) });
const resumed = (rig: Rig, run: number, cause: "cancelled" | "owner_lost"): Rig =>
  rig.tell({ type: "call.resumed", ...of("r:a", [1, run]), cause, owner: "d2" });

/** A body that has asked for this, each under the name of its kind. */
const asked = (...effects: readonly EffectSpec[]): Rig => {
  const rig = submit(Rig.open([durable], { max_crashes: 5, crash_pauses_ms: [1000] }), "durable").skip();
  for (const effect of effects) ask(rig, "r:a", effect.kind, effect).skip();
  return rig;
};

const suspended = (...effects: readonly EffectSpec[]): Rig =>
  asked(...effects).tell({ type: "call.suspended", ...of("r:a") });

/** A call whose child has something to clean up. */
const nested = (): Rig => {
  const rig = asked({ kind: "batch", calls: [{ id: "x", tool: "tool:durable", args: null }] });
  ask(rig, "r:a/batch/x", "undo", cleanup).skip();
  return rig;
};

describe("a call that cleans up when it is cancelled", () => {
  it("chooses from no clean-up that is open: it would wait for a cancel alone", () => {
    const choice = { kind: "select", mode: "race", keys: ["cleanup", "wait"] } as const;
    const rig = asked(cleanup, wait);
    rig.refuses({ type: "effect.requested", ...of("r:a"), key: "choice", hash: "h", effect: choice }, "effect_unknown");
  });

  it("has its grace only when it has cleaned up", () => {
    const rig = asked(cleanup);
    want(cancel(rig), stop("r:a"), answer("cleanup"));
    expect(nextDeadline(rig.state)).toBeUndefined();
    rig.after(60_000);
    want(ask(rig, "r:a", "refund", step()), { type: "step.run", key: "refund" });
    want(stepOk(rig, "r:a", "refund"), answer("refund"));
    cleanedUp(rig, "r:a").nothingMore();
    rig.tick(49).nothingMore();
    want(rig.tick(1), completed("a", gone), replied(gone));
  });
  it("keeps the outcome of a body that ends while it cleans up", () => {
    const rig = asked(cleanup);
    cancel(rig).skip();
    want(settle(rig, "r:a", success("undone")), completed("a", success("undone")), replied(success("undone")));
  });
  it("says so once, and only where it was told to stop", () => {
    const rig = asked(cleanup);
    const event = { type: "call.cleaned_up", ...of("r:a") } as const;
    rig.refuses(event, "wrong_phase");
    cancel(rig).skip();
    rig.refuses({ ...event, run: 2 }, "stale_run");
    cleanedUp(rig, "r:a").refuses(event, "wrong_phase").nothingMore();
  });
  it("is told at once of what it asks for after the cancel", () => {
    const rig = asked();
    cancel(rig).skip();
    want(ask(rig.after(30), "r:a", "late", cleanup), answer("late"));
    rig.tick(100).nothingMore();
    cleanedUp(rig, "r:a");
    want(rig.tick(50), completed("a", gone), replied(gone));
  });
});

describe("a body that had left the memory", () => {
  it("runs again to clean up", () => {
    const rig = suspended(cleanup, wait);
    want(cancel(rig), { ...execute("r:a", [1, 2]), cause: "cancelled" });
    rig.after(60_000);
    resumed(rig, 2, "cancelled").nothingMore();
    cleanedUp(rig, "r:a", 2);
    want(rig.tick(50), completed("a", gone), replied(gone));
  });
  it("ends at once where it has nothing to clean up", () => {
    want(cancel(suspended(wait)), completed("a", gone), replied(gone));
  });
  it("does not sleep for a cancel alone", () => {
    asked(cleanup)
      .refuses({ type: "call.suspended", ...of("r:a") }, "wrong_phase")
      .nothingMore();
  });
  it("does not leave before it has heard what its own report let pass", () => {
    const rig = asked(wait, { kind: "sleep", ms: 10 }).after(10);
    rig.refuses({ type: "call.suspended", ...of("r:a") }, "wrong_phase");
    want(rig.tell({ type: "clock.ticked" }), answer("sleep"));
    rig.tell({ type: "call.suspended", ...of("r:a") }).nothingMore();
  });
});

describe("an owner that is lost while a call cleans up", () => {
  it("does not end it: the body runs again, and hears of the cancel in its place", () => {
    const rig = asked(cleanup);
    cancel(rig).skip();
    rig.after(3_600_000);
    want(crash(rig), { ...execute("r:a", [1, 2]), cause: "owner_lost" });
    resumed(rig, 2, "owner_lost").nothingMore();
    expect(nextDeadline(rig.state)).toBeUndefined();
    cleanedUp(rig, "r:a", 2);
    want(rig.tick(50), completed("a", gone), replied(gone));
  });
  it("ends one that has cleaned up, or may not run again", () => {
    const clean = asked(cleanup);
    cancel(clean).skip();
    cleanedUp(clean, "r:a");
    want(crash(clean), completed("a", gone), replied(gone));
    const bound = submit(Rig.open([tool("bound", { recovery: "owner_bound" })]), "bound").skip();
    ask(bound, "r:a", "c", cleanup).skip();
    cancel(bound).skip();
    const left = cancelled("tool call cancelled; its clean-up could not finish: `c`");
    want(crash(bound), completed("a", left), replied(left));
  });
  it("may happen so often without a new record, and no oftener", () => {
    const rig = asked(cleanup);
    cancel(rig).skip();
    for (let run = 2; run <= 6; run++) {
      crash(rig).skip();
      rig.tick(64_000).skip();
      resumed(rig, run, "owner_lost").skip();
    }
    const left = cancelled("tool call cancelled; its clean-up could not finish: `cleanup`");
    want(crash(rig), completed("a", left), replied(left));
  });
  it("does not keep a cancel from a call that pauses: it runs again at once, to clean up", () => {
    const rig = asked(cleanup);
    crash(rig).skip();
    resumed(rig, 2, "owner_lost").skip();
    crash(rig).nothingMore();
    want(cancel(rig), { ...execute("r:a", [1, 3]), cause: "owner_lost" });
    resumed(rig, 3, "owner_lost").nothingMore();
    cleanedUp(rig, "r:a", 3);
    want(rig.tick(50), completed("a", gone), replied(gone));
  });
});

describe("a call whose child cleans up", () => {
  const replies = [{ call_id: "x", tool: "durable", args: null, output: gone, duration_ms: 0 }];
  const recorded = { type: "replies.recorded", call: "r:a", key: "batch", replies, triggers: [] } as const;

  it("has its grace when it has heard of it", () => {
    const rig = nested();
    want(cancel(rig), stop("r:a"), stop("r:a/batch/x"), answer("undo"));
    rig.tick(60_000).nothingMore();
    cleanedUp(rig, "r:a/batch/x").nothingMore();
    want(rig.tick(50), completed("x", gone), { type: "replies.record" });
    rig.tick(60_000).nothingMore();
    want(rig.tell(recorded), answer("batch"));
    want(rig.tick(50), completed("a", gone), replied(gone));
  });
  it("is told with it where it alone is cancelled", () => {
    const rig = nested();
    want(rig.tell({ type: "call.cancelled", call: "r:a" }), stop("r:a"), stop("r:a/batch/x"), answer("undo"));
    const left = cancelled("tool call cancelled; its clean-up could not finish: `undo`");
    want(settle(rig, "r:a", success(1)), completed("a", success(1)), completed("x", left), replied(success(1)));
  });
});
