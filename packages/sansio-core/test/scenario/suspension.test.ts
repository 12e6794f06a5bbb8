/** Bodies that wait for nothing but records leave memory, whatever they wait for, and come back for their own answers. */
import { describe, expect, it } from "vitest";
import type { EffectSpec } from "../../src/call/effect/effect.ts";
import { checkAll } from "../../src/check.ts";
import { why } from "../../src/explain/why.ts";
import { outstanding } from "../../src/machine.ts";
import type { Tool } from "../../src/catalog/model.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { Options } from "../../src/kernel/options.ts";
import { Rig, tool } from "../rig.ts";
import {
  type Run,
  ask,
  busy,
  cancel,
  completed,
  crash,
  execute,
  hostAnswered,
  gone,
  of,
  replied,
  resolve,
  resume,
  settle,
  step,
  stepErr,
  stepOk,
  stop,
  submit,
  success,
  want,
} from "./words.ts";

const calls = (...tools: readonly string[]): EffectSpec => ({
  kind: "batch",
  calls: tools.map((name, i) => ({ id: String.fromCodePoint(120 + i), tool: `tool:${name}`, args: null })),
});
const message = (to: string): EffectSpec => ({
  kind: "message",
  to,
  message: { type: "process.await", wait: `end:${to}` },
});
const onCancel = { kind: "cleanup", deadline_ms: 1000 } as const;
const host = { kind: "host", name: "ask", input: { q: 1 } } as const;

const tools: readonly Tool[] = [
  tool("loop"),
  tool("work"),
  tool("mail", { policy: "requires_approval" }),
  tool("bound", { durable: false }),
  tool("tries", { retry_policy: { type: "safe", max_attempts: 3, base_delay_ms: 60_000, max_delay_ms: 60_000 } }),
];

const under = (protocol: number, name = "loop", options: Partial<Options> = {}): Rig =>
  submit(Rig.open(tools, options, protocol), name).skip();
const loop = (name?: string, options?: Partial<Options>): Rig => under(2, name, options);

const suspend = (call: string, run?: Run, link?: string): Event => ({
  type: "call.suspended",
  ...of(call, run),
  ...(link === undefined ? {} : { link }),
});
const leaves = (rig: Rig, call: string, run?: Run): Rig => rig.tell(suspend(call, run)).nothingMore();
const stays = (rig: Rig, call = "r:a"): Rig => rig.skip().refuses(suspend(call), "wrong_phase");
const phase = (rig: Rig, call = "r:a"): string | undefined => rig.state.calls.at(call)?.phase;

/** A call of a tool that a person has to approve, below the call `a`. */
const asksPerson = (rig: Rig): Rig => {
  ask(rig, "r:a", "b", calls("mail"));
  want(rig, { type: "tool.prepare", call: "r:a/b/x" });
  const preparation = { type: "prepared", tool_id: "tool:mail", args: null, args_hash: "h", payload: null } as const;
  return rig.tell({ type: "call.prepared", call: "r:a/b/x", preparation }).skip();
};
const approve = (rig: Rig): Rig =>
  rig.tell({ type: "approval.decided", call: "r:a/b/x", decision: { type: "approve" }, args_hash: "h", by: "p" });
const repliesOf = (rig: Rig, key: string, call: string): Event => {
  const found = outstanding(rig.state).find((one) => one.type === "replies.record" && one.call === call);
  if (found?.type !== "replies.record") throw new Error("no replies are to be recorded");
  return { type: "replies.recorded", call, key, replies: found.replies, triggers: found.triggers };
};

describe("a body that waits for a batch", () => {
  it("leaves memory while a person decides below, and is woken by the replies alone", () => {
    const rig = asksPerson(loop());
    leaves(rig, "r:a");
    expect(checkAll(rig.state)).toBeUndefined();
    want(approve(rig), { ...execute("r:a/b/x") });
    want(settle(rig, "r:a/b/x", success(1)), completed("x"), { type: "replies.record", key: "b" });
    expect(phase(rig)).toBe("suspended");
    want(rig.tell(repliesOf(rig, "b", "r:a")), { ...execute("r:a", [1, 2]), cause: "suspended" });
  });
  it("stayed in memory under protocol 1, whatever its batch waited for", () => {
    stays(asksPerson(under(1)));
  });
  it("is lost with no owner: fifty crashes while a person decides change nothing", () => {
    const rig = asksPerson(loop());
    leaves(rig, "r:a");
    for (let i = 0; i < 50; i++) crash(rig).nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "suspended", body: { run: 1, resumes: 0 } });
  });
  it("ended as a crash loop under protocol 1, by its sixth crash", () => {
    const rig = asksPerson(under(1));
    const pauses = [0, 1000, 4000, 16_000, 64_000];
    for (const [i, pause] of pauses.entries()) {
      crash(rig).skip();
      rig.tick(pause).skip();
      resume(rig, "r:a", [1, i + 2]).skip();
    }
    rig.nothingMore();
    crash(rig);
    expect(rig.state.requests.at("r")).toMatchObject({
      replies: [{ output: { outcome: { payload: { code: "tool_outcome_unknown" } } } }],
    });
  });
  it("stays while a call of it runs, is prepared, ends, or is about to start by itself", () => {
    const runs = ask(loop(), "r:a", "b", calls("work", "mail")).skip();
    stays(runs);
    stays(ask(loop(), "r:a", "b", calls("mail")).skip());
    const ends = ask(loop("loop", { after_hook: true }), "r:a", "b", calls("work")).skip();
    stays(settle(ends, "r:a/b/x", success(1)).skip());
    const over = ask(loop(), "r:a", "b", calls("work")).skip();
    stays(settle(over, "r:a/b/x", success(1)).skip());
    const resumes = ask(loop(), "r:a", "b", calls("work")).skip();
    crash(resumes).skip();
    resume(resumes, "r:a", [1, 2]).skip();
    resumes.refuses(suspend("r:a", [1, 2]), "wrong_phase");
  });
  it("stays while a body below that is bound to its owner waits in memory", () => {
    const rig = ask(loop(), "r:a", "b", calls("bound")).skip();
    stays(ask(rig, "r:a/b/x", "w", { kind: "wait", wait: "k" }));
  });
  it("leaves while a call of it pauses between two attempts, and while another waits for a slot behind it", () => {
    const rig = ask(loop("loop", { concurrency: 1 }), "r:a", "b", calls("tries", "work")).skip();
    settle(rig, "r:a/b/x", busy()).nothingMore();
    leaves(rig, "r:a");
    want(rig.tick(60_000), execute("r:a/b/x", [2, 1]));
    expect(phase(rig)).toBe("suspended");
  });
  it("leaves with the whole chain of callers above it, from the bottom up, and comes back from the bottom up", () => {
    const rig = ask(loop(), "r:a", "b", calls("loop")).skip();
    ask(rig, "r:a/b/x", "c", calls("loop")).skip();
    ask(rig, "r:a/b/x/c/x", "w", { kind: "wait", wait: "person" }).skip();
    stays(rig);
    leaves(rig, "r:a/b/x/c/x");
    stays(rig);
    leaves(rig, "r:a/b/x");
    leaves(rig, "r:a");
    crash(rig).nothingMore();
    want(resolve(rig, "person", 1), execute("r:a/b/x/c/x", [1, 2]));
    resume(rig, "r:a/b/x/c/x", [1, 2], "suspended").nothingMore();
    want(settle(rig, "r:a/b/x/c/x", success(1), [1, 2]), completed("x"), { type: "replies.record", key: "c" });
    want(rig.tell(repliesOf(rig, "c", "r:a/b/x")), execute("r:a/b/x", [1, 2]));
    expect(phase(rig)).toBe("suspended");
  });
  it("keeps its place in its own batch", () => {
    const rig = submit(Rig.open(tools, { concurrency: 1 }, 2), "loop", "work").skip();
    asksPerson(rig);
    leaves(rig, "r:a");
    expect(phase(rig, "r:b")).toBe("ready");
  });
});

describe("a suspended body that is told to stop", () => {
  it("ends at once where all that it called is at rest", () => {
    const rig = asksPerson(loop());
    leaves(rig, "r:a");
    want(cancel(rig), completed("a", gone), completed("x"), replied(gone));
  });
  it("runs again where it called what is at work, which keeps its grace", () => {
    const rig = asksPerson(loop());
    leaves(rig, "r:a");
    want(approve(rig), execute("r:a/b/x"));
    want(cancel(rig), { ...execute("r:a", [1, 2]), cause: "cancelled" }, stop("r:a/b/x"));
    resume(rig, "r:a", [1, 2], "cancelled").nothingMore();
    expect(checkAll(rig.state)).toBeUndefined();
    want(settle(rig, "r:a/b/x", success("in time")), completed("x", success("in time")), { type: "replies.record" });
    want(rig.tell(repliesOf(rig, "b", "r:a")), { type: "step.answer", key: "b" });
    want(settle(rig, "r:a", success("partly"), [1, 2]), completed("a", success("partly")), replied(success("partly")));
  });
  it("is taken at its word when its grace is over", () => {
    const rig = asksPerson(loop());
    leaves(rig, "r:a");
    approve(rig).skip();
    cancel(rig).skip();
    resume(rig, "r:a", [1, 2], "cancelled").nothingMore();
    want(rig.tick(50), completed("x", gone), { type: "replies.record" }, completed("a", gone), replied(gone));
  });
});

describe("a body that waits for messages", () => {
  it("leaves while nobody answers, and is woken by the answer", () => {
    const rig = ask(loop(), "r:a", "m", message("process:p")).skip();
    leaves(rig, "r:a");
    const outcome = { status: "accepted", value: null } as const;
    const link = rig.state.links.get("process:p")?.outgoing?.link ?? 0;
    want(rig.tell({ type: "message.answered", to: "process:p", link, number: 1, outcome }), execute("r:a", [1, 2]));
  });
  it("stayed under protocol 1", () => {
    stays(ask(under(1), "r:a", "m", message("process:p")));
  });
});

const secondAttempt = (protocol: number): Rig => {
  const rig = ask(under(protocol, "tries"), "r:a", "pay", step("once")).skip();
  const result = { type: "done", output: busy(0) } as const;
  const left = protocol === 1 ? {} : { left: ["pay"] };
  rig.tell({ type: "call.settled", ...of("r:a"), result, duration_ms: 1, ...left }).skip();
  rig.tick(60_000).skip();
  return ask(rig, "r:a", "w", { kind: "wait", wait: "k" }, [2, 1]).skip();
};

describe("a body beside a `once` step that an earlier attempt left open", () => {
  it("is suspended as well: nobody is at work on that step", () => {
    const rig = secondAttempt(2);
    leaves(rig, "r:a", [2, 1]);
    expect(checkAll(rig.state)).toBeUndefined();
    want(resolve(rig, "k", 1), execute("r:a", [2, 2]));
  });
  it("stayed under protocol 1", () => {
    secondAttempt(1).refuses(suspend("r:a", [2, 1]), "wrong_phase");
  });
  it("is not suspended where that step is all that is open: nothing would wake it", () => {
    const rig = secondAttempt(2);
    resolve(rig, "k", 1).skip();
    rig.refuses(suspend("r:a", [2, 1]), "wrong_phase");
  });
});

const waiting = (seq = 4): Event => ({
  type: "host.waiting",
  call: "r:a",
  key: "h",
  seq,
  name: "ask",
  input: { q: 1 },
});
const asked = (protocol = 2): Rig => ask(under(protocol), "r:a", "h", host).skip();

describe("a body that asks its host", () => {
  it("stays while the host is at it, and leaves once a person is asked", () => {
    const rig = asked();
    stays(rig);
    rig.tell(waiting()).nothingMore();
    leaves(rig, "r:a");
    expect(why(rig.state).calls).toMatchObject([
      { what: { type: "suspended", effects: [{ key: "h", what: { kind: "host", asksPerson: true } }] } },
    ]);
    want(hostAnswered(rig, "r:a", "h", "yes"), {
      ...execute("r:a", [1, 2]),
      cause: "suspended",
    });
  });
  it("is asked for again after an opening, under the same key, while no body does that", () => {
    const rig = asked();
    rig.tell(waiting());
    expect(outstanding(rig.state)).toEqual([]);
    leaves(rig, "r:a");
    crash(rig).nothingMore();
    expect(outstanding(rig.state)).toEqual([
      { type: "host.request", call: "r:a", attempt: 1, run: 1, key: "h", name: "ask", input: { q: 1 } },
    ]);
    hostAnswered(rig, "r:a", "h", "yes").skip();
    expect(outstanding(rig.state).map(({ type }) => type)).toEqual(["tool.execute"]);
  });
  it("names the request that waits, and says so once", () => {
    const rig = asked();
    rig.refuses(waiting(3), "effect_unknown");
    rig.tell(waiting()).refuses(waiting(), "wrong_phase");
    hostAnswered(rig, "r:a", "h", 1).skip();
    rig.refuses(waiting(), "effect_settled");
  });
  it("cannot say so under protocol 1, and does not leave", () => {
    const rig = asked(1);
    stays(rig.refuses(waiting(), "needs_protocol_2"));
  });
  it("may say so of a request that was made under protocol 1, once its scope is upgraded", () => {
    const rig = asked(1).upgrade();
    rig.tell(waiting()).nothingMore();
    leaves(rig, "r:a");
  });
});

describe("a body whose next message finds its link full", () => {
  const to = "process:p";
  /** Three calls, of which the first has sent what the link takes. */
  const full = (max = 1): Rig => {
    const rig = submit(Rig.open(tools, { max_unanswered: max }, 2), "loop", "loop", "loop", "tries").skip();
    for (let i = 0; i < max; i++) ask(rig, "r:a", `m${i}`, message(to)).skip();
    return rig;
  };
  const asks = (call: string, run?: Run): Event => ({
    type: "effect.requested",
    ...of(call, run),
    key: "m",
    hash: "h:m",
    effect: message(to),
  });
  const answered = (rig: Rig, number: number): Rig => {
    const link = rig.state.links.get(to)?.outgoing?.link ?? 0;
    return rig.tell({ type: "message.answered", to, link, number, outcome: { status: "accepted", value: null } });
  };
  const inLine = (rig: Rig, ...line: readonly string[]): Rig => {
    for (const call of line) {
      rig.refuses(asks(call), "link_full");
      rig.tell(suspend(call, undefined, to)).nothingMore();
    }
    return rig;
  };

  it("waits in line: each answer wakes as many as there is room for, in the order in which they came", () => {
    const rig = inLine(full(), "r:c", "r:b", "r:d");
    expect(checkAll(rig.state)).toBeUndefined();
    want(answered(rig, 1), { type: "step.answer", key: "m0" }, { ...execute("r:c", [1, 2]), cause: "suspended" });
    resume(rig, "r:c", [1, 2], "suspended").nothingMore();
    want(rig.tell(asks("r:c", [1, 2])), { type: "send", to });
    want(answered(rig, 2), { type: "step.answer", key: "m", call: "r:c" }, execute("r:b", [1, 2]));
    expect(phase(rig, "r:d")).toBe("suspended");
    expect(checkAll(rig.state)).toBeUndefined();
  });
  it("has its room kept, also over a crash, and no other body takes it", () => {
    const rig = inLine(full(), "r:b");
    want(answered(rig, 1), { type: "step.answer" }, execute("r:b", [1, 2]));
    rig.refuses(asks("r:c"), "link_full");
    resume(rig, "r:b", [1, 2], "suspended").nothingMore();
    crash(rig).skip();
    resume(rig, "r:b", [1, 3]).nothingMore();
    resume(rig, "r:c", [1, 2]).nothingMore();
    rig.refuses(asks("r:c", [1, 2]), "link_full");
    want(rig.tell(asks("r:b", [1, 3])), { type: "send", to });
  });
  it("leaves its room to the next in line where it ends, or asks for something else", () => {
    const ended = inLine(full(), "r:b", "r:c");
    answered(ended, 1).skip();
    resume(ended, "r:b", [1, 2], "suspended").nothingMore();
    want(settle(ended, "r:b", success(1), [1, 2]), completed("b"), execute("r:c", [1, 2]));
    const other = inLine(full(), "r:b", "r:c");
    answered(other, 1).skip();
    resume(other, "r:b", [1, 2], "suspended").nothingMore();
    want(ask(other, "r:b", "w", { kind: "wait", wait: "k" }, [1, 2]), execute("r:c", [1, 2]));
    const dropped = inLine(full(), "r:b", "r:c");
    answered(dropped, 1).skip();
    want(dropped.tell({ type: "call.cancelled", call: "r:b" }), completed("b", gone), execute("r:c", [1, 2]));
  });
  it("leaves its room to what it asks for first: a call of it may need it", () => {
    const rig = inLine(full(), "r:b", "r:c");
    answered(rig, 1).skip();
    resume(rig, "r:b", [1, 2], "suspended").nothingMore();
    want(ask(rig, "r:b", "x", calls("bound"), [1, 2]), execute("r:c", [1, 2]), { type: "observe" }, execute("r:b/x/x"));
    rig.tell({ type: "call.cancelled", call: "r:c" }).skip();
    want(rig.tell(asks("r:b/x/x")), { type: "send", to });
    rig.refuses(asks("r:b", [1, 2]), "link_full");
  });
  it("leaves its room while its attempt is over, or nobody runs its tool", () => {
    const again = inLine(full(), "r:d", "r:c");
    answered(again, 1).skip();
    resume(again, "r:d", [1, 2], "suspended").nothingMore();
    want(settle(again, "r:d", busy(), [1, 2]), execute("r:c", [1, 2]));
    expect(phase(again, "r:d")).toBe("backing_off");
    const away = inLine(full(), "r:b", "r:c");
    answered(away, 1).skip();
    resume(away, "r:b", [1, 2], "suspended").nothingMore();
    want(away.tell({ type: "call.executor_missing", ...of("r:b", [1, 2]) }), execute("r:c", [1, 2]));
    expect(checkAll(away.state)).toBeUndefined();
  });
  it("is woken by a higher bound as well", () => {
    const rig = inLine(full(), "r:b", "r:c", "r:d");
    const options = { ...rig.state.scope.options, max_unanswered: 3 };
    want(rig.tell({ type: "scope.configured", options }), execute("r:b", [1, 2]), execute("r:c", [1, 2]));
    expect(phase(rig, "r:d")).toBe("suspended");
    expect(checkAll(rig.state)).toBeUndefined();
  });
  it("takes its own room, though more is kept than a bound that was lowered meanwhile has", () => {
    const rig = inLine(full(), "r:b", "r:c");
    const bound = (max_unanswered: number): Rig =>
      rig.tell({ type: "scope.configured", options: { ...rig.state.scope.options, max_unanswered } });
    want(bound(3), execute("r:b", [1, 2]), execute("r:c", [1, 2]));
    resume(rig, "r:b", [1, 2], "suspended").nothingMore();
    resume(rig, "r:c", [1, 2], "suspended").nothingMore();
    bound(1).nothingMore();
    rig.refuses(asks("r:b", [1, 2]), "link_full");
    answered(rig, 1).skip();
    want(rig.tell(asks("r:b", [1, 2])), { type: "send", to });
    rig.refuses(asks("r:c", [1, 2]), "link_full");
    answered(rig, 2).skip();
    want(rig.tell(asks("r:c", [1, 2])), { type: "send", to });
    expect(checkAll(rig.state)).toBeUndefined();
  });
  it("is woken by an answer of its own as well, and waits in line again", () => {
    const rig = full();
    ask(rig, "r:b", "w", { kind: "wait", wait: "k" }).skip();
    inLine(rig, "r:b");
    want(resolve(rig, "k", 1), execute("r:b", [1, 2]));
  });
  it("is not suspended where there is room, nor while it is at work, nor under protocol 1", () => {
    const rig = full(2);
    answered(rig, 1).skip();
    rig.refuses(suspend("r:b", undefined, to), "wrong_phase");
    ask(rig, "r:c", "m", message(to)).skip();
    ask(rig, "r:b", "s", step()).skip();
    rig.refuses(suspend("r:b", undefined, to), "wrong_phase");
    const one = submit(Rig.open(tools, { max_unanswered: 1 }, 1), "loop", "loop").skip();
    ask(one, "r:a", "m", message(to)).skip();
    one.refuses(suspend("r:b", undefined, to), "needs_protocol_2");
  });
  it("says what it waits for", () => {
    const rig = inLine(full(), "r:b");
    const reason = why(rig.state).calls.find(({ call }) => call === "r:b");
    expect(reason).toMatchObject({ what: { type: "suspended", link: to }, movedBy: ["message.answered"] });
  });
});

describe("a body that has an answer to hear", () => {
  it("stays: the deadline passed with the very event that would suspend it", () => {
    const rig = ask(loop(), "r:a", "s", { kind: "sleep", ms: 1000 }).skip();
    ask(rig, "r:a", "m", message("process:p")).skip();
    rig.after(1000).refuses(suspend("r:a"), "wrong_phase");
  });
  it("stays while its own step runs", () => {
    const rig = ask(loop(), "r:a", "m", message("process:p")).skip();
    ask(rig, "r:a", "s", step()).skip();
    stays(rig);
    stepErr(rig, "r:a", "s").skip();
    leaves(rig, "r:a");
  });
  it("stays where nothing but a cancel would wake it", () => {
    stays(ask(loop(), "r:a", "c", onCancel));
    const rig = stepOk(ask(loop(), "r:a", "s", step()).skip(), "r:a", "s").skip();
    stays(rig);
  });
});
