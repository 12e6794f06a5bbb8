import { describe, expect, it } from "vitest";
import type { SelectMode } from "../../src/call/effect/effect.ts";
import { ask as decideAsk } from "../../src/call/effect/ask.ts";
import type { Rig } from "../rig.ts";
import { ask, of, resolve, running, step, stepErr, stepOk, want } from "./words.ts";

const steps = (rig: Rig, ...keys: readonly string[]): Rig => {
  for (const key of keys) ask(rig, "r:a", key, step()).skip();
  return rig;
};
const select = (mode: SelectMode, ...keys: readonly string[]) => ({ kind: "select", mode, keys }) as const;
const answer = (key: string, index = 0) => ({ type: "step.answer", key, index }) as const;

/** Returns who won, and how the choice ended. */
const outcome = (rig: Rig, key = "choice") => {
  const asked = decideAsk(rig.state, { ...of("r:a"), key, kind: "select", hash: `h:${key}` });
  return asked.type === "answer" ? [asked.effect.winner, asked.effect.status] : asked.type;
};

describe("answers", () => {
  it("come in the order in which they are recorded, whatever was asked first", () => {
    const rig = steps(running(), "a", "b");
    want(stepOk(rig, "r:a", "b"), { ...answer("b"), seq: rig.state.seq });
    want(stepOk(rig, "r:a", "a"), { ...answer("a"), seq: rig.state.seq });
  });
  it("of one event are ordered among themselves", () => {
    const rig = running();
    ask(rig, "r:a", "w", { kind: "wait", wait: "k" }).skip();
    ask(rig, "r:a", "v", { kind: "wait", wait: "k" }).skip();
    ask(rig, "r:a", "choice", select("race", "v", "w")).skip();
    want(resolve(rig, "k", 1), answer("w"), answer("choice", 1), answer("v", 2));
  });
  it("of time come by their deadlines, and of one time by their requests", () => {
    const rig = running();
    ask(rig, "r:a", "late", { kind: "sleep", ms: 200 }).skip();
    ask(rig, "r:a", "first", { kind: "sleep", ms: 100 }).skip();
    ask(rig, "r:a", "second", { kind: "sleep", ms: 100 }).skip();
    want(rig.tick(1000), answer("first"), answer("second", 1), answer("late", 2));
  });
  it("of time stand before that of the event that let it pass", () => {
    const rig = steps(running(), "a");
    ask(rig, "r:a", "s", { kind: "sleep", ms: 100 }).skip();
    want(stepOk(rig.after(100), "r:a", "a"), answer("s"), answer("a", 1));
  });
  it("come once", () => {
    const rig = stepOk(steps(running(), "a"), "r:a", "a").skip();
    const again = { type: "step.settled", ...of("r:a"), key: "a", result: { status: "ok", value: 2 } } as const;
    rig.refuses(again, "effect_settled");
    rig.refuses({ ...again, key: "x" }, "effect_unknown");
    rig.refuses({ type: "host.answered", call: "r:a", key: "x", result: again.result }, "effect_unknown");
    rig.nothingMore();
  });
  it("are of the kind that was asked", () => {
    const rig = steps(running(), "a");
    const answered = { type: "host.answered", call: "r:a", key: "a", result: { status: "ok", value: 2 } } as const;
    rig.refuses(answered, "effect_kind_mismatch").nothingMore();
  });
});

describe("a choice", () => {
  it("race: the first that settles wins, whichever way", () => {
    const rig = ask(steps(running(), "a", "b"), "r:a", "choice", select("race", "a", "b")).nothingMore();
    want(stepErr(rig, "r:a", "b"), answer("b"), answer("choice", 1));
    expect(outcome(rig)).toEqual(["b", "err"]);
  });
  it("any: the first success wins; without one the last failure", () => {
    const rig = ask(steps(running(), "a", "b"), "r:a", "choice", select("any", "a", "b")).nothingMore();
    want(stepErr(rig, "r:a", "b"), answer("b"));
    want(stepOk(rig, "r:a", "a"), answer("a"), answer("choice", 1));
    expect(outcome(rig)).toEqual(["a", "ok"]);
    const none = ask(steps(running(), "a", "b"), "r:a", "choice", select("any", "a", "b"));
    stepErr(none, "r:a", "b").skip();
    stepErr(none, "r:a", "a").skip();
    expect(outcome(none)).toEqual(["a", "err"]);
  });
  it("all: the first failure decides; without one the last success", () => {
    const rig = ask(steps(running(), "a", "b"), "r:a", "choice", select("all", "a", "b")).nothingMore();
    want(stepErr(rig, "r:a", "b"), answer("b"), answer("choice", 1));
    expect(outcome(rig)).toEqual(["b", "err"]);
    const all = ask(steps(running(), "a", "b"), "r:a", "choice", select("all", "a", "b"));
    stepOk(all, "r:a", "b").skip();
    want(stepOk(all, "r:a", "a"), answer("a"), answer("choice", 1));
    expect(outcome(all)).toEqual(["a", "ok"]);
  });
  it("allSettled: the last decides, and it is no failure", () => {
    const rig = ask(steps(running(), "a", "b"), "r:a", "choice", select("all_settled", "a", "b")).nothingMore();
    want(stepErr(rig, "r:a", "b"), answer("b"));
    want(stepErr(rig, "r:a", "a"), answer("a"), answer("choice", 1));
    expect(outcome(rig)).toEqual(["a", "ok"]);
  });
  it("over what is settled already is decided at once, by the places in the log", () => {
    const rig = steps(running(), "a", "b");
    stepOk(rig, "r:a", "b").skip();
    const value = rig.state.seq;
    stepOk(rig, "r:a", "a").skip();
    want(ask(rig, "r:a", "choice", select("race", "a", "b")), { ...answer("choice"), value });
    expect(outcome(rig)).toEqual(["b", "ok"]);
  });
  it("may be among what another chooses from", () => {
    const rig = ask(steps(running(), "a", "b"), "r:a", "inner", select("race", "a", "b")).skip();
    ask(rig, "r:a", "choice", select("all", "inner")).nothingMore();
    want(stepOk(rig, "r:a", "a"), answer("a"), answer("inner", 1), answer("choice", 2));
  });
  it("from what is not recorded, or from nothing, is refused", () => {
    const asked = { type: "effect.requested", ...of("r:a"), key: "choice", hash: "h" } as const;
    const rig = steps(running(), "a");
    rig.refuses({ ...asked, effect: select("race", "a", "x") }, "effect_unknown");
    rig.refuses({ ...asked, effect: select("race") }, "effect_unknown").nothingMore();
  });
});
