/** Lives of a call, under the protocol that has them and under the one that has not. */
import { describe as describeError } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { BodyState } from "../../src/call/model.ts";
import { bodyOf } from "../../src/call/row.ts";
import { checkAll } from "../../src/check.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { isSameState, referredTo } from "../../src/snapshot/same.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { Rig, protocols, tool } from "../rig.ts";
import {
  type Run,
  ask,
  busy,
  completed,
  crash,
  execute,
  of,
  replied,
  resolve,
  resume,
  settle,
  step,
  stepOk,
  submit,
  success,
  want,
} from "./words.ts";

type Resolved = Extract<Event, { readonly type: "wait.resolved" }>;

/** A call of the tool `echo` whose body runs, in a scope of this protocol. */
const running = (protocol: number, more: Parameters<typeof tool>[1] = {}, calls = 1): Rig =>
  submit(Rig.open([tool("echo", more)], {}, protocol), ...Array<string>(calls).fill("echo")).skip();

const bodyIn = (rig: Rig, call = "r:a"): BodyState => {
  const row = rig.state.calls.at(call);
  const body = row === undefined ? undefined : bodyOf(row);
  if (body === undefined) throw new Error(`\`${call}\` has no body`);
  return body;
};

type More = Partial<Extract<Event, { readonly type: "call.continued" }>>;

/** The body continues as another, which begins. */
const anew = (rig: Rig, [attempt, run]: Run, more: More = {}): Rig => {
  const said = rig.state.scope.protocol < 2 ? {} : { args_hash: `h${run}`, ...more };
  rig.tell({ type: "call.continued", ...of("r:a", [attempt, run]), args: { run }, ...said }).skip();
  return resume(rig, "r:a", [attempt, run + 1], "continued");
};

/** A resolution as the token of a key tells it. */
const told = (key: string, whose: Pick<Resolved, "call" | "life"> = {}): Resolved => ({
  type: "wait.resolved",
  key,
  resolution: { status: "ok", payload: key },
  ...whose,
});
const own = (key: string, whose: "life" | "call" = "life") => ({ kind: "wait", wait: key, own: whose }) as const;

const valid = (rig: Rig): Rig => {
  expect(checkAll(rig.state)).toBeUndefined();
  const restored = restore(snapshot(rig.state));
  if (E.isLeft(restored)) throw new Error(describeError(restored.left));
  expect(isSameState(rig.state, restored.right)).toBe(true);
  expect(snapshot(restored.right)).toEqual(snapshot(rig.state));
  return rig;
};

describe.each(protocols)("a body that continues, under protocol %i", (protocol) => {
  it("begins a new life, from protocol 2 on", () => {
    const rig = anew(anew(running(protocol), [1, 1]), [1, 2]);
    expect(bodyIn(rig).life.number).toBe(protocol < 2 ? 1 : 3);
    expect(bodyIn(rig)).toMatchObject({ attempt: 1, run: 3 });
    valid(rig).nothingMore();
  });
  it("has as many attempts as its policy gives to a life", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = running(protocol, { retry_policy });
    want(settle(rig, "r:a", busy()), execute("r:a", [2, 1]));
    settle(anew(rig, [2, 1]), "r:a", busy(), [2, 2]);
    if (protocol < 2) return void rig.wants({ type: "observe", what: "call_completed" }).skip();
    want(rig, execute("r:a", [3, 1]));
    const exhausted = settle(rig, "r:a", busy(), [3, 1]);
    exhausted.wants({ type: "observe", what: "call_completed" }).skip();
    expect(exhausted.state.requests.at("r")).toMatchObject({
      replies: [{ output: { outcome: { payload: { retry: { type: "exhausted", attempts: 2 } } } } }],
    });
  });
  it("is parked again for a decision on the arguments that it has now", () => {
    const asks = tool("echo", { policy: "requires_approval", recovery: "owner_bound", durable: false });
    const rig = submit(Rig.open([asks], { resolver: true }, protocol), "echo").skip();
    const preparation = { type: "prepared", tool_id: "tool:echo", args: {}, args_hash: "h0", payload: null } as const;
    rig.tell({ type: "call.prepared", call: "r:a", preparation }).skip();
    const approve = { type: "approval.decided", call: "r:a", decision: { type: "approve" }, by: "p" } as const;
    rig.tell({ ...approve, args_hash: "h0" }).skip();
    crash(anew(rig, [1, 1])).skip();
    rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: "run_again" } }).skip();
    const [seen, other] = protocol < 2 ? ["h0", "h1"] : ["h1", "h0"];
    rig.refuses({ ...approve, args_hash: other }, "stale_decision");
    want(rig.tell({ ...approve, args_hash: seen }), execute("r:a", [1, 3]));
  });
});

describe("arguments that were edited for one more run", () => {
  it.each(protocols)("are those that the next decision names, under protocol 2: %i", (protocol) => {
    const asks = tool("echo", { policy: "requires_approval", recovery: "owner_bound", durable: false });
    const rig = submit(Rig.open([asks], { resolver: true }, protocol), "echo").skip();
    const preparation = { type: "prepared", tool_id: "tool:echo", args: {}, args_hash: "h0", payload: null } as const;
    rig.tell({ type: "call.prepared", call: "r:a", preparation }).skip();
    const decided = { type: "approval.decided", call: "r:a", by: "p", args_hash: "h0" } as const;
    rig.tell({ ...decided, decision: { type: "approve" } }).skip();
    const again = { type: "outcome.resolved", call: "r:a", resolved: { type: "run_again" } } as const;
    crash(rig).skip().tell(again).skip();
    rig.tell({ ...decided, decision: { type: "approve_edited", args: { n: 2 }, args_hash: "h2" } }).skip();
    crash(resume(rig, "r:a", [1, 2], "run_again"))
      .skip()
      .tell(again)
      .skip();
    expect(rig.state.calls.at("r:a")).toMatchObject({ approval: { argsHash: protocol < 2 ? "h0" : "h2" } });
  });
});

describe("a scope of protocol 1", () => {
  it("has nothing of lives in its events", () => {
    const rig = running(1);
    const continued = { type: "call.continued", ...of("r:a"), args: null } as const;
    rig.refuses({ ...continued, args_hash: "h" }, "needs_protocol_2");
    rig.refuses({ ...continued, signals: [] }, "needs_protocol_2");
    rig.refuses(told("k", { call: "r:a" }), "needs_protocol_2");
    const asked = { type: "effect.requested", ...of("r:a"), key: "w", hash: "h", effect: own("k") } as const;
    rig.refuses(asked, "needs_protocol_2").nothingMore();
  });
});

describe("a key of a life", () => {
  const life1 = { call: "r:a", life: 1 };

  it("resolves what its life awaits", () => {
    const rig = ask(running(2), "r:a", "w", own("k")).skip();
    want(rig.tell(told("k", life1)), { type: "step.answer", key: "w" });
    valid(rig).refuses(told("k", life1), "already_resolved");
  });
  it("resolves nothing once its life is over, awaited by another or not", () => {
    const rig = ask(running(2, {}, 2), "r:b", "w", { kind: "wait", wait: "k" }).skip();
    rig.refuses(told("k", { call: "r:none", life: 1 }), "already_resolved");
    anew(rig, [1, 1]);
    rig.refuses(told("k", life1), "already_resolved");
    rig.refuses(told("j", life1), "already_resolved");
    want(rig.tell(told("k")), { type: "step.answer", call: "r:b" });
  });
  it("resolves nothing once its call is over", () => {
    const rig = settle(running(2, {}, 2), "r:a", success(1)).skip();
    rig.refuses(told("k", life1), "already_resolved");
    rig.refuses(told("k", { call: "r:a" }), "already_resolved").nothingMore();
  });
  it("takes its resolution with it, if nobody has claimed that", () => {
    const rig = running(2)
      .tell(told("k", life1))
      .tell(told("j", { call: "r:a" }))
      .tell(told("i"));
    expect(valid(rig).state.unclaimed).toBe(3);
    const over = rig.offer({ type: "call.continued", ...of("r:a"), args: null, args_hash: "h" });
    expect(E.isRight(over) && over.right.finished).toEqual([{ kind: "wait", id: "k", seq: rig.state.seq - 2 }]);
    anew(rig, [1, 1]);
    expect(valid(rig).state.waits.keys().toSorted()).toEqual(["i", "j"]);
    expect(rig.state.unclaimed).toBe(2);
    settle(rig, "r:a", success(1), [1, 2]).skip();
    expect(valid(rig).state.waits.keys()).toEqual(["i"]);
    expect(rig.state.unclaimed).toBe(1);
  });
  it("takes what it awaited with it: lives without end leave a state without growth", () => {
    const rig = running(2);
    for (const run of [1, 2, 3]) {
      ask(rig, "r:a", "open", own(`o${run}`), [1, run]).skip();
      ask(rig, "r:a", "done", own(`d${run}`), [1, run]).skip();
      resolve(rig, `d${run}`, run).skip();
      expect(valid(rig).state.waits.size).toBe(2);
      anew(rig, [1, run]);
      expect(valid(rig).state.waits.size).toBe(0);
      expect(rig.state.requests.at("r")).toMatchObject({ waits: [] });
      expect(bodyIn(rig).waits).toEqual([]);
    }
  });
  it("is shared where others wait on it too, and stays for them", () => {
    const rig = ask(running(2, {}, 2), "r:a", "w", own("k")).skip();
    ask(rig, "r:b", "w", { kind: "wait", wait: "k" }).skip();
    anew(rig, [1, 1]);
    want(valid(resolve(rig, "k", 1)), { type: "step.answer", call: "r:b" });
  });
  it("that is also the request's is claimed by whoever waits for that", () => {
    const rig = ask(running(2).tell(told("k", life1)), "r:a", "w", { kind: "wait", wait: "k" }).skip();
    anew(rig, [1, 1]);
    want(ask(valid(rig), "r:a", "w", { kind: "wait", wait: "k" }, [1, 2]), { type: "step.answer", key: "w" });
  });
  it("is revoked with its session, before anything else is said of it", () => {
    const rig = ask(running(2), "r:a", "w", own("k")).skip().tell(told("j", life1));
    rig.tell({ type: "session.deleted" }).skip();
    valid(rig).refuses(told("k", life1), "unknown_or_revoked");
    anew(rig, [1, 1]);
    expect(valid(rig).state.waits.keys()).toEqual([]);
  });
});

describe("a key of a call", () => {
  it("goes on in its next life, with who has resolved it", () => {
    const rig = ask(running(2), "r:a", "w", own("k", "call")).skip();
    rig.tell(told("j", { call: "r:a" })).nothingMore();
    anew(rig, [1, 1]);
    expect(valid(rig).state.waits.keys().toSorted()).toEqual(["j", "k"]);
    want(ask(rig, "r:a", "w", own("k", "call"), [1, 2]));
    want(ask(rig, "r:a", "v", own("j", "call"), [1, 2]), { type: "step.answer", key: "v" });
    want(rig.tell(told("k", { call: "r:a" })), { type: "step.answer", key: "w" });
    want(settle(valid(rig), "r:a", success(1), [1, 2]), completed("a"), replied(success(1)));
    expect(rig.state.waits.size).toBe(0);
  });
  it("leaves with a call that is dropped with its caller", () => {
    const rig = submit(Rig.open([tool("echo"), tool("kid", { id: "kid" })], {}, 2), "echo").skip();
    ask(rig, "r:a", "b", { kind: "batch", calls: [{ id: "k", tool: "kid", args: null }] }).skip();
    ask(rig, "r:a/b/k", "w", own("k", "call")).skip();
    rig.tell({ type: "call.suspended", ...of("r:a/b/k") }); // A body waits for a batch in which somebody is at work.
    settle(valid(rig), "r:a", success(1)).skip();
    expect(valid(rig).state.waits.size).toBe(0);
  });
});

describe("signals that a body was handed", () => {
  it("stay handed in all later lives", () => {
    const rig = anew(running(2), [1, 1], { signals: [{ name: "go", ordinal: 2 }] });
    anew(rig, [1, 2], {
      signals: [
        { name: "stop", ordinal: 1 },
        { name: "go", ordinal: 1 },
      ],
    });
    expect(bodyIn(anew(rig, [1, 3])).life.signals).toEqual([
      { name: "go", ordinal: 2 },
      { name: "stop", ordinal: 1 },
    ]);
    valid(rig).nothingMore();
  });
});

const retries = { retry_policy: { type: "safe", max_attempts: 9, base_delay_ms: 0, max_delay_ms: 0 } } as const;
const reuse = (rig: Rig, attempt: number): Rig =>
  rig.after(100).tell({ type: "effect.reused", call: "r:a", attempt, key: "s" }).skip();
const nextAttempt = (rig: Rig, attempt: number): Rig => settle(rig, "r:a", busy(), [attempt, 1]).skip();
const inFirstAttempt = (protocol: number): Rig =>
  stepOk(ask(running(protocol, retries), "r:a", "s", step()).skip(), "r:a", "s").skip();
const placeOf = (rig: Rig) => bodyIn(rig).settled.get("s");

describe("an answer that later attempts reuse", () => {
  it("keeps the event in which it first took its place, under protocol 2", () => {
    const rig = inFirstAttempt(2);
    const first = rig.state.seq;
    for (const attempt of [2, 3]) {
      reuse(nextAttempt(rig, attempt - 1), attempt);
      expect(placeOf(rig)).toMatchObject({ first, settled: rig.state.seq, value: first });
      expect(referredTo(valid(rig).state)).toEqual([first]);
    }
  });
  it("has the place of its reuse alone, under protocol 1", () => {
    const rig = reuse(nextAttempt(inFirstAttempt(1), 1), 2);
    expect(placeOf(rig)?.first).toBeUndefined();
    expect(referredTo(valid(rig).state)).toEqual([rig.state.seq - 2, rig.state.seq]);
  });
  it("keeps the time that an attempt of protocol 1 was told", () => {
    const rig = nextAttempt(inFirstAttempt(1), 1).upgrade();
    reuse(rig, 2);
    expect(placeOf(rig)?.first).toBeUndefined();
    const handed = rig.state.seq;
    reuse(nextAttempt(valid(rig), 2), 3);
    expect(placeOf(rig)).toMatchObject({ first: handed, settled: rig.state.seq });
    valid(rig).nothingMore();
  });
});

describe("the upgrade of a scope", () => {
  it("leaves lives with the keys that they have, and gives rules of protocol 2 to the next", () => {
    const rig = nextAttempt(inFirstAttempt(1), 1).upgrade();
    expect(bodyIn(rig).life).toEqual({ number: 1, attempt: 1, signals: [], upgradedIn: 2 });
    anew(valid(rig), [2, 1]);
    expect(bodyIn(rig).life).toEqual({ number: 2, attempt: 2, at: rig.at, signals: [] });
  });
  it("says of which arguments decisions are, on calls that continued before", () => {
    const asks = tool("echo", { policy: "requires_approval", recovery: "owner_bound", durable: false });
    const rig = submit(Rig.open([asks], { resolver: true }, 1), "echo", "echo").skip();
    for (const call of ["r:a", "r:b"]) {
      const preparation = { type: "prepared", tool_id: "tool:echo", args: {}, args_hash: "h0", payload: null } as const;
      rig.tell({ type: "call.prepared", call, preparation }).skip();
      const decision = { type: "approve" } as const;
      rig.tell({ type: "approval.decided", call, decision, by: "p", args_hash: "h0" }).skip();
    }
    crash(anew(rig, [1, 1])).skip();
    rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: "run_again" } }).skip();
    const continued = [
      { call: "r:a", args_hash: "ha" },
      { call: "r:b", args_hash: "hb" },
    ];
    rig.tell({ type: "scope.upgraded", to: 2, continued }).nothingMore();
    expect(valid(rig).state.calls.at("r:a")).toMatchObject({ approval: { argsHash: "ha" }, body: { argsHash: "ha" } });
    rig.tell({ type: "outcome.resolved", call: "r:b", resolved: { type: "run_again" } }).skip();
    expect(rig.state.calls.at("r:b")).toMatchObject({ approval: { argsHash: "hb" } });
  });
});

describe("a choice that a later attempt reuses", () => {
  it("has the losers that it had: the end does not wait for one that runs again", () => {
    const rig = stepOk(
      ask(ask(running(2, retries), "r:a", "s", step()).skip(), "r:a", "late", step()).skip(),
      "r:a",
      "s",
    );
    rig.skip();
    const keys = ["s", "late"];
    ask(rig, "r:a", "choice", { kind: "select", mode: "race", keys }).skip();
    ask(nextAttempt(rig, 1), "r:a", "late", step(), [2, 1]).skip();
    const end = {
      type: "call.settled",
      ...of("r:a", [2, 1]),
      result: { type: "done", output: success(1) },
      duration_ms: 1,
    } as const;
    rig.refuses(end, "effects_open");
    rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "choice", keys }).skip();
    want(valid(rig).tell(end), completed("a"), replied(success(1)));
  });
});
