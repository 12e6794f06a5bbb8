import { describe, expect, it } from "vitest";
import { recoveryOf } from "../../src/catalog/model.ts";
import { nextDeadline, outstanding } from "../../src/machine.ts";
import { type Rig, tool } from "../rig.ts";
import {
  ask,
  completed,
  crash,
  execute,
  failure,
  of,
  replied,
  resolve,
  resume,
  running,
  settle,
  step,
  stepErr,
  stepOk,
  success,
  want,
} from "./words.ts";

const bound = { recovery: "owner_bound" } as const;
const external = { recovery: "externally_owned" } as const;
const unknown = failure(
  "external",
  "tool_outcome_unknown",
  "the outcome of `echo` is unknown: its owner was lost while it ran",
);

describe("the recovery of a tool", () => {
  const plain = { durable: false, hints: { readonly: false, idempotent: false } };

  it("is the first that is set: recovery, durable, hints, an idempotent retry, else owner-bound", () => {
    const retry_policy = { type: "idempotent", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    expect(recoveryOf(tool("t", plain))).toBe("owner_bound");
    expect(recoveryOf(tool("t", { ...plain, durable: true }))).toBe("rerunnable");
    expect(recoveryOf(tool("t", { ...plain, hints: { readonly: true, idempotent: false } }))).toBe("rerunnable");
    expect(recoveryOf(tool("t", { ...plain, hints: { readonly: false, idempotent: true } }))).toBe("rerunnable");
    expect(recoveryOf(tool("t", { ...plain, retry_policy }))).toBe("rerunnable");
    expect(recoveryOf(tool("t", { ...plain, retry_policy: { ...retry_policy, type: "safe" } }))).toBe("owner_bound");
    expect(recoveryOf(tool("t", { durable: true, recovery: "externally_owned" }))).toBe("externally_owned");
  });
});

describe("a rerunnable call whose owner is lost", () => {
  it("starts again from the top, once that is on record", () => {
    const rig = running();
    want(crash(rig), { ...execute("r:a", [1, 2]), cause: "owner_lost" });
    expect(outstanding(rig.state)).toMatchObject([{ type: "tool.execute", run: 2, cause: "owner_lost" }]);
    const result = { type: "done", output: success(1) } as const;
    rig.refuses({ type: "call.settled", ...of("r:a", [1, 2]), result, duration_ms: 1 }, "wrong_phase");
    resume(rig, "r:a", [1, 2]).nothingMore();
    expect(outstanding(rig.state)).toEqual([]);
    rig.refuses({ type: "call.settled", ...of("r:a", [1, 1]), result, duration_ms: 1 }, "stale_run");
    want(settle(rig, "r:a", success(1), [1, 2]), completed("a"), replied(success(1)));
  });
  it("is lost with its worker, and not with another's", () => {
    const rig = running();
    rig.tell({ type: "call.dispatched", ...of("r:a"), owner: "worker:1" }).nothingMore();
    rig.refuses({ type: "owner.lost", owner: "d1" }, "owner_unknown");
    want(rig.tell({ type: "owner.lost", owner: "worker:1" }).hush(), execute("r:a", [1, 2]));
  });
  it("stays with an executor, whose own lease ends it", () => {
    const rig = running();
    rig.tell({ type: "call.dispatched", ...of("r:a"), owner: "executor:x" }).nothingMore();
    crash(rig).nothingMore();
    want(rig.tell({ type: "owner.lost", owner: "executor:x" }).hush(), execute("r:a", [1, 2]));
  });
  it("is tried five times in a row, after 0, 1, 4, 16 and 64 seconds, and then ends, in protocol 1", () => {
    const rig = running({}, { resolver: true }, 1);
    want(crash(rig), execute("r:a", [1, 2]));
    for (const [i, pauseMs] of [1000, 4000, 16_000, 64_000].entries()) {
      resume(rig, "r:a", [1, 2 + i]).skip();
      crash(rig).nothingMore();
      expect(outstanding(rig.state)).toEqual([]);
      expect(nextDeadline(rig.state)?.at).toBe(rig.at + pauseMs);
      const early = { type: "call.resumed", ...of("r:a", [1, 3 + i]), cause: "owner_lost", owner: "d" } as const;
      rig.refuses(early, "wrong_phase");
      want(rig.tick(pauseMs), execute("r:a", [1, 3 + i]));
    }
    resume(rig, "r:a", [1, 6]).skip();
    const message = "the outcome of `echo` is unknown: its owner was lost again and again while it ran";
    const loop = failure("external", "tool_outcome_unknown", message);
    want(crash(rig), completed("a", loop), replied(loop));
  });
  it("is tried anew after a new record", () => {
    const rig = running({}, { crash_pauses_ms: [0, 1000] });
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]).skip();
    crash(rig).nothingMore();
    rig.tick(1000).skip();
    resume(rig, "r:a", [1, 3]).skip();
    ask(rig, "r:a", "s", step(), [1, 3]).skip();
    want(crash(rig), execute("r:a", [1, 4]));
  });
  it("that is cancelled while it pauses never starts again", () => {
    const rig = running({}, { crash_pauses_ms: [0, 1000] });
    crash(rig).skip();
    resume(rig, "r:a", [1, 2]).skip();
    crash(rig).nothingMore();
    want(rig.tell({ type: "request.cancelled", request: "r" }), completed("a"), { type: "reply" });
    rig.tick(1000).nothingMore();
  });
});

describe("an owner-bound call whose owner is lost", () => {
  it("ends at once where nobody can say what became of it", () => {
    want(crash(running(bound)), completed("a", unknown), replied(unknown));
  });
  it("waits for the resolver, who is asked again until the answer comes", () => {
    const rig = running(bound, { resolver: true });
    const asked = { type: "outcome.resolve", call: "r:a", cause: "owner_lost", tool: "echo" } as const;
    want(crash(rig), asked);
    crash(rig).nothingMore();
    expect(outstanding(rig.state)).toEqual([asked]);
    want(
      rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: "give_up" } }),
      completed("a", unknown),
      replied(unknown),
    );
  });
  it("has the outcome that the resolver verified", () => {
    const rig = crash(running(bound, { resolver: true })).skip();
    const resolved = { type: "verified", output: success("it went through") } as const;
    rig.tell({ type: "outcome.resolved", call: "r:a", resolved, by: "p" });
    want(rig, completed("a", success("it went through")), replied(success("it went through")));
  });
  it("runs again where the resolver says so", () => {
    const rig = crash(running(bound, { resolver: true })).skip();
    rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: "run_again" } }).hush();
    want(rig, { ...execute("r:a", [1, 2]), cause: "run_again" });
    rig.refuses({ type: "outcome.resolved", call: "r:a", resolved: { type: "give_up" } }, "wrong_phase");
  });
});

describe("an externally owned call whose owner is lost", () => {
  it("stays parked on its completion key", () => {
    const rig = running(external);
    rig.tell({ type: "call.dispatched", ...of("r:a"), owner: "worker:1", key: "k" }).nothingMore();
    crash(rig).nothingMore();
    rig.refuses({ type: "owner.lost", owner: "worker:1" }, "owner_unknown");
    want(resolve(rig, "k", 1), completed("a", success(1)), replied(success(1)));
  });
  it("without a key is an unknown outcome", () => {
    want(crash(running(external)), completed("a", unknown), replied(unknown));
  });
});

const again = (recovery: "again" | "idempotent" | "once"): Rig => {
  const rig = running();
  ask(rig, "r:a", "s", step(recovery)).skip();
  crash(rig).skip();
  return resume(rig, "r:a", [1, 2]).skip();
};

const statusOf = (rig: Rig): unknown => {
  const row = rig.state.calls.at("r:a");
  return row !== undefined && "body" in row ? row.body?.settled.get("w")?.status : undefined;
};

describe("a deadline of a body that is not running", () => {
  const deadline = { kind: "wait", wait: "k", deadline_ms: 100 } as const;
  it("passes while the body starts again: a resolution after it comes too late", () => {
    const rig = ask(running(), "r:a", "w", deadline).skip();
    crash(rig).skip();
    resolve(rig.after(101), "k", 1).nothingMore();
    expect(statusOf(rig)).toBe("err");
    resume(rig, "r:a", [1, 2]).nothingMore();
  });
  it("passes while the body pauses, and before the pause is over", () => {
    const rig = ask(running({}, { crash_pauses_ms: [1000] }), "r:a", "w", deadline).skip();
    for (const run of [2, 3]) {
      crash(rig).skip();
      if (run === 2) resume(rig, "r:a", [1, 2]).nothingMore();
    }
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 100);
    rig.tick(100).nothingMore();
    expect(statusOf(rig)).toBe("err");
    want(rig.tick(900), execute("r:a", [1, 3]));
  });
  it("passes while the call waits for an executor, or for the word on its outcome", () => {
    const waiting = ask(running(), "r:a", "w", deadline).skip();
    waiting.tell({ type: "call.executor_missing", ...of("r:a") }).nothingMore();
    waiting.tick(100).nothingMore();
    expect(statusOf(waiting)).toBe("err");
    const unsure = ask(running(bound, { resolver: true }), "r:a", "w", deadline).skip();
    crash(unsure).skip();
    unsure.tick(100).nothingMore();
    expect(statusOf(unsure)).toBe("err");
  });
});

describe("the steps of a body that starts again", () => {
  it("settle in the run that is current, whichever recorded them", () => {
    for (const recovery of ["again", "idempotent"] as const) {
      const rig = again(recovery);
      const late = { type: "step.settled", ...of("r:a"), key: "s", result: { status: "ok", value: 1 } } as const;
      rig.refuses(late, "stale_run");
      want(stepOk(rig, "r:a", "s", [1, 2]), { type: "step.answer", key: "s", run: 2 });
    }
  });
  it("that may run only once have an unknown outcome, which is itself on record", () => {
    const rig = again("once");
    want(stepErr(rig, "r:a", "s", [1, 2], "step_outcome_unknown"), { type: "step.answer", key: "s" });
    expect(outstanding(rig.state)).toEqual([]);
  });
  it("that are recorded are not recorded again", () => {
    const same = { type: "effect.requested", ...of("r:a", [1, 2]), key: "s", hash: "h:s", effect: step() } as const;
    again("again").refuses(same, "effect_exists").nothingMore();
  });
});
