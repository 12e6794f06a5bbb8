import { describe as describeError } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { ask as decideAsk } from "../../src/call/effect/ask.ts";
import type { State } from "../../src/kernel/vocabulary.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { resolutionOf } from "../../src/wait/model.ts";
import { Rig, tool } from "../rig.ts";
import { ask, completed, failure, of, pend, replied, resolve, settle, submit, success, want } from "./words.ts";

const wait = (key: string, deadline_ms?: number) =>
  deadline_ms === undefined
    ? ({ kind: "wait", wait: key } as const)
    : ({ kind: "wait", wait: key, deadline_ms } as const);
const running = (...names: readonly string[]): Rig =>
  submit(Rig.open([tool("echo")], { max_unclaimed: 2 }), ...(names.length === 0 ? ["echo"] : names)).skip();
const late = { type: "wait.resolved", key: "k", resolution: { status: "ok", payload: "late" } } as const;

describe("a wait", () => {
  it("that is resolved while it waits is answered, and its value stands in the event that resolved it", () => {
    const rig = ask(running(), "r:a", "w", wait("k")).nothingMore();
    want(resolve(rig, "k", 1), { type: "step.answer", key: "w", seq: rig.state.seq, value: rig.state.seq });
  });
  it("that was resolved before is answered as it is asked, by the event that resolved it", () => {
    const rig = resolve(running(), "k", 1).nothingMore();
    const resolved = rig.state.seq;
    want(ask(rig, "r:a", "w", wait("k")), { type: "step.answer", key: "w", seq: rig.state.seq, value: resolved });
  });
  it("is resolved once: who comes late is told the winner, even with the same", () => {
    const rig = resolve(ask(running(), "r:a", "w", wait("k")).skip(), "k", "first").skip();
    rig.refuses(late, "already_resolved");
    rig.refuses({ ...late, resolution: { status: "ok", payload: "first" } }, "already_resolved");
    expect(resolutionOf(rig.state, "k")).toEqual({ status: "ok", payload: "first" });
    rig.nothingMore();
  });
  it("answers all who wait, and who comes later gets the same", () => {
    const rig = running("echo", "echo");
    ask(rig, "r:a", "w", wait("k")).skip();
    ask(rig, "r:b", "w", wait("k")).skip();
    ask(rig, "r:b", "v", wait("k")).skip();
    const answers = ["r:a", "r:b", "r:b"].map((call) => ({ type: "step.answer", call }) as const);
    want(resolve(rig, "k", 1), ...answers);
    want(ask(rig, "r:a", "again", wait("k")), { type: "step.answer", key: "again" });
  });
  it("leaves the state with the last request that waited on it", () => {
    const rig = running();
    rig
      .tell({ type: "request.submitted", request: "s", hash: "h", calls: [{ id: "a", tool: "echo", args: null }] })
      .skip();
    ask(rig, "r:a", "w", wait("k")).skip();
    ask(rig, "s:a", "w", wait("k")).skip();
    resolve(rig, "k", 1).skip();
    settle(rig, "r:a", success(1)).skip();
    expect(rig.state.waits.size).toBe(1);
    settle(rig, "s:a", success(1)).skip();
    expect(rig.state.waits.size).toBe(0);
    rig.nothingMore();
  });
});

describe("the deadline of a wait", () => {
  it("is that waiter's own: the key is not resolved, and others wait on", () => {
    const rig = running("echo", "echo");
    ask(rig, "r:a", "w", wait("k", 100)).skip();
    ask(rig, "r:b", "w", wait("k")).skip();
    want(rig.tick(100), { type: "step.answer", call: "r:a", key: "w" });
    want(resolve(rig, "k", 1), { type: "step.answer", call: "r:b", key: "w" });
  });
  it("passes before a resolution of the same time is looked at", () => {
    const rig = ask(running(), "r:a", "w", wait("k", 100)).skip();
    want(resolve(rig.after(100), "k", 1), { type: "step.answer", key: "w", value: rig.state.seq });
    expect(rig.state.waits.at("k")?.terminal).toEqual({ resolution: { status: "ok", payload: 1 }, seq: rig.state.seq });
    const asked = { ...of("r:a"), key: "w", kind: "wait", hash: "h:w" } as const;
    expect(decideAsk(rig.state, asked)).toMatchObject({ type: "answer", effect: { status: "err" } });
    rig.nothingMore();
  });
  it("loses against a resolution that came before it", () => {
    const rig = ask(running(), "r:a", "w", wait("k", 100)).skip();
    want(resolve(rig.after(99), "k", 1), { type: "step.answer", key: "w" });
    rig.tick(1).nothingMore();
  });
});

describe("the cancel of one waiter", () => {
  it("detaches it: the key is not resolved", () => {
    const rig = running("echo", "echo");
    ask(rig, "r:a", "w", wait("k")).skip();
    ask(rig, "r:b", "w", wait("k")).skip();
    want(rig.tell({ type: "wait.cancelled", call: "r:a", key: "w" }), { type: "step.answer", call: "r:a", key: "w" });
    rig.refuses({ type: "wait.cancelled", call: "r:a", key: "w" }, "not_a_waiter");
    want(resolve(rig, "k", 1), { type: "step.answer", call: "r:b" });
  });
});

describe("resolutions that nobody awaits", () => {
  it("are kept up to a bound, and one that is claimed makes room", () => {
    const rig = resolve(resolve(running(), "k1", 1), "k2", 1);
    rig.refuses({ type: "wait.resolved", key: "k3", resolution: { status: "timeout" } }, "too_many_unclaimed");
    want(ask(rig, "r:a", "w", wait("k1")), { type: "step.answer" });
    resolve(rig, "k3", 1).nothingMore();
    rig.refuses({ type: "wait.resolved", key: "k4", resolution: { status: "timeout" } }, "too_many_unclaimed");
  });
});

describe("a revoked key", () => {
  it("fails those who wait on it, and who comes later; nobody may resolve it", () => {
    const rig = ask(running(), "r:a", "w", wait("k")).skip();
    want(rig.tell({ type: "wait.revoked", keys: ["k"] }), { type: "step.answer", key: "w" });
    rig.refuses(late, "unknown_or_revoked");
    want(ask(rig, "r:a", "v", wait("k")), { type: "step.answer", key: "v" });
  });
  it("ends a pending call, without its hooks", () => {
    const rig = submit(Rig.open([tool("echo")], { after_hook: true }), "echo").skip();
    pend(rig, "r:a", "k").skip();
    const message = "await_event_unknown_or_revoked: await-event key is invalid or revoked";
    const output = failure("internal", "pending_tool_completion_failed", message);
    want(rig.tell({ type: "wait.revoked", keys: ["k"] }), completed("a", output), replied(output));
  });
  it("that was resolved stays resolved", () => {
    const rig = resolve(running(), "k", 1);
    rig.tell({ type: "wait.revoked", keys: ["k"] }).nothingMore();
    rig.refuses(late, "already_resolved");
  });
});

const restored = (state: State): State => {
  const result = restore(snapshot(state));
  if (E.isLeft(result)) throw new Error(describeError(result.left));
  return result.right;
};
const keys = Array.from({ length: 40 }, (_, i) => `w${i}`);
/** Answers to one body that waits on many keys, when its session is deleted; restored after so many of them. */
const answered = (waits: readonly string[], restoredAfter?: number): readonly string[] => {
  const rig = running();
  for (const [i, key] of waits.entries()) {
    if (i === restoredAfter) rig.state = restored(rig.state);
    ask(rig, "r:a", key, wait(key)).skip();
  }
  const result = rig.offer({ type: "session.deleted" });
  if (E.isLeft(result)) throw new Error(result.left.message);
  return result.right.commands.flatMap((command) => (command.type === "step.answer" ? [command.key] : []));
};

describe("a session that is deleted", () => {
  it("answers its waits in the order that protocol 1 has recorded", () => {
    expect(answered(["a", "b", "c", "d", "e"])).toEqual(["c", "d", "a", "e", "b"]);
  });
  it("answers its waits in one order, wherever it was restored", () => {
    const few = keys.slice(0, 8);
    for (const waits of [few, keys]) {
      const live = answered(waits);
      expect(live.toSorted()).toEqual(waits.toSorted());
      for (const after of waits.keys()) expect(answered(waits, after)).toEqual(live);
    }
  });
});

describe("a pending call", () => {
  it("ends by the word from outside, with the duration of its launch", () => {
    const rig = pend(running(), "r:a", "k").nothingMore();
    want(
      resolve(rig.after(5000), "k", { v: 1 }),
      { ...completed("a", success({ v: 1 })), duration_ms: 5 },
      replied(success({ v: 1 })),
    );
  });
  it("ends at once when the word is there already", () => {
    want(pend(resolve(running(), "k", 1), "r:a", "k"), completed("a", success(1)), replied(success(1)));
  });
  it("fails by an error from outside, and keeps what came with it", () => {
    const rig = pend(running(), "r:a", "k").skip();
    const payload = { code: "denied", message: "no", raw: { why: 1 } };
    const output = failure("execution", "denied", "no", { source: "tool", raw: { why: 1 } });
    want(
      rig.tell({ type: "wait.resolved", key: "k", resolution: { status: "err", payload } }),
      completed("a", output),
      replied(output),
    );
  });
  it("runs its hooks when its word has come, and not before", () => {
    const rig = submit(Rig.open([tool("echo")], { after_hook: true }), "echo").skip();
    pend(rig, "r:a", "k").nothingMore();
    want(resolve(rig, "k", 1), { type: "hook.run", phase: "after", output: success(1) });
  });
  it("times out, measured from when the wait began, and resolves its key so", () => {
    const rig = running();
    pend(rig.after(700), "r:a", "k", { deadline: { secs: 1, nanos: 500_000_000 } }).nothingMore();
    rig.tick(1499).nothingMore();
    const output = failure("timeout", "tool_completion_timeout", "pending tool completion timed out");
    want(rig.tick(1), completed("a", output), replied(output));
  });
  it("that times out may fail the turn", () => {
    const rig = pend(running("echo", "echo"), "r:a", "k", { deadline: { secs: 1, nanos: 0 }, on_timeout: "fail_turn" });
    const timeout = failure("timeout", "tool_completion_timeout", "pending tool completion timed out");
    const control = { type: "fail", failure: timeout.outcome.payload } as never;
    want(rig.tick(1000), completed("a", { ...timeout, control }));
    rig.refuses(late, "already_resolved");
    expect(resolutionOf(rig.state, "k")).toEqual({ status: "timeout" });
  });
  it("that was cancelled leaves its key resolved, and with it everybody who waits there", () => {
    const rig = pend(running("echo", "echo", "echo"), "r:a", "k");
    pend(rig, "r:b", "k").skip();
    ask(rig, "r:c", "w", wait("k")).skip();
    rig.tell({ type: "call.cancelled", call: "r:a" });
    const asked = { type: "external.cancel", key: "k" } as const;
    want(rig, asked, completed("a"), completed("b"), { type: "step.answer", call: "r:c" });
    rig.refuses(late, "already_resolved");
  });
  it("takes no answer of its body's any more", () => {
    const rig = pend(running(), "r:a", "k").skip();
    const result = { type: "done", output: success(1) } as const;
    rig.refuses({ type: "call.settled", ...of("r:a"), result, duration_ms: 1 }, "wrong_phase").nothingMore();
  });
});
