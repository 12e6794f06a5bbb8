import { describe, expect, it } from "vitest";
import { type Decision, pendingApprovals } from "../../src/call/approval.ts";
import type { Tool } from "../../src/catalog/model.ts";
import { outstanding } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  cancelled,
  completed,
  crash,
  execute,
  failure,
  replied,
  resume,
  settle,
  started,
  submit,
  success,
  type Wanted,
  want,
} from "./words.ts";

const guarded = (more: Partial<Tool> = {}): Tool => tool("guarded", { policy: "requires_approval", ...more });

const preparation = (call: string, more: { readonly approval?: "waived" } = {}) =>
  ({
    type: "call.prepared",
    call,
    preparation: {
      type: "prepared",
      tool_id: "tool:guarded",
      args: { n: 0 },
      args_hash: "h1",
      payload: { p: 1 },
      ...more,
    },
  }) as const;
const prepared = (rig: Rig, call: string, more?: { readonly approval?: "waived" }): Rig =>
  rig.tell(preparation(call, more));

/** Calls that are parked, in one request. */
const parked = (count = 1, more: Partial<Tool> = {}): Rig => {
  const rig = submit(
    Rig.open([guarded(more)], { resolver: true }),
    ...Array.from({ length: count }, () => "guarded"),
  ).skip();
  for (const id of ["a", "b", "c"].slice(0, count)) prepared(rig, `r:${id}`).skip();
  return rig;
};
const decide = (rig: Rig, call: string, decision: Decision, sticky?: "later" | "parked_too"): Rig =>
  rig.tell({
    type: "approval.decided",
    call,
    decision,
    args_hash: "h1",
    by: "p",
    ...(sticky === undefined ? {} : { sticky }),
  });
const approve = { type: "approve" } as const;
const reject = { type: "reject", reason: "too risky" } as const;
const edit = { type: "approve_edited", args: { n: 9 } } as const;

const rejected = failure("permission_denied", "approval_rejected", "too risky", { source: "policy" });
const expired = failure("permission_denied", "approval_expired", "nobody decided on the call in time", {
  source: "policy",
});
const waits = (call_id: string): Wanted => ({ type: "observe", what: "call_parked", call_id });

describe("a call whose tool needs an approval", () => {
  it("is parked after its preparation, and shown as started", () => {
    const rig = submit(Rig.open([guarded()]), "guarded");
    want(rig, { type: "tool.prepare", call: "r:a" });
    want(prepared(rig, "r:a"), started("a"), waits("a"));
    expect(outstanding(rig.state)).toEqual([]);
  });
  it("runs once it is approved, with what was prepared", () => {
    want(decide(parked(), "r:a", approve), { ...execute("r:a"), args: { n: 0 }, payload: { p: 1 } });
  });
  it("runs at once where its tool may waive the approval and does, also after its owner is lost", () => {
    const rig = submit(Rig.open([guarded({ waives_approval: true, durable: true })], {}, 2), "guarded").skip();
    want(prepared(rig, "r:a", { approval: "waived" }), started("a"), { ...execute("r:a"), payload: { p: 1 } });
    rig.tell({ type: "owner.lost", owner: rig.state.scope.owner });
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "resuming", body: { manifest: { policy: "auto" } } });
    const asked = submit(Rig.open([guarded({ waives_approval: true })], {}, 2), "guarded").skip();
    want(prepared(asked, "r:a"), started("a"), waits("a"));
  });
  it("is waived by no tool that may not, nor by one that wants every approval when the call is launched", () => {
    const strict = submit(Rig.open([guarded()], {}, 2), "guarded").skip();
    strict.refuses(preparation("r:a", { approval: "waived" }), "wrong_phase");
    const rig = submit(Rig.open([guarded({ waives_approval: true })], {}, 2), "guarded", "guarded").skip();
    prepared(rig, "r:a", { approval: "waived" }).skip();
    rig.tell({ type: "catalog.published", tools: [guarded()] }).skip();
    prepared(rig, "r:b").skip();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "completed" });
    expect(rig.state.calls.at("r:a")).toHaveProperty("output.outcome.payload.code", "approval_required");
  });
  it("is waived in no scope of protocol 1", () => {
    const young = { type: "catalog.published", tools: [guarded({ waives_approval: true })] } as const;
    Rig.open([], {}, 1).refuses(young, "needs_protocol_2");
  });
  it("ends when it is rejected, with the reason", () => {
    want(decide(parked(), "r:a", reject), completed("a", rejected), replied(rejected));
  });
  it("waits for ever, unless its tool says how long", () => {
    parked()
      .tick(10 ** 12)
      .nothingMore();
    const rig = parked(1, { approval_ms: 500 });
    rig.tick(499).nothingMore();
    want(rig.tick(1), completed("a", expired), replied(expired));
  });
  it("is refused when its tool began to ask for approvals after it was prepared", () => {
    const required = "the tool requires approval since the call was prepared: call it again";
    const output = failure("permission_denied", "approval_required", required, { source: "policy" });
    const serial = { scheduling: "serial" } as const;
    const rig = submit(Rig.open([tool("echo", serial), tool("guarded", serial)]), "echo", "guarded").skip();
    rig.tell({ type: "catalog.published", tools: [tool("echo", serial), guarded(serial)] }).nothingMore();
    want(
      settle(rig, "r:a", success(1)),
      completed("a", success(1)),
      started("b"),
      completed("b", output),
      replied(success(1), output),
    );
  });
  it("is cancelled as one that has not started", () => {
    const output = cancelled("tool call cancelled");
    want(parked().tell({ type: "request.cancelled", request: "r" }), completed("a", output), replied(output));
  });
  it("does not hold up the others of its batch", () => {
    const rig = submit(Rig.open([guarded(), tool("echo", { scheduling: "serial" })]), "guarded", "echo").skip();
    want(prepared(rig, "r:a"), started("a"), waits("a"), started("b"), execute("r:b"));
  });
  it("that is approved while a serial call runs waits for its turn", () => {
    const rig = submit(Rig.open([guarded(), tool("echo", { scheduling: "serial" })]), "guarded", "echo").skip();
    prepared(rig, "r:a").skip();
    decide(rig, "r:a", approve).nothingMore();
    want(settle(rig, "r:b", success(1)), completed("b"), execute("r:a"));
  });
});

describe("decisions", () => {
  it("come in any order, also after a restart", () => {
    const rig = parked(3);
    want(decide(rig, "r:c", approve), execute("r:c"));
    want(crash(rig), execute("r:c", [1, 2]));
    want(decide(rig, "r:a", approve), execute("r:a"));
    want(decide(rig, "r:b", reject), completed("b", rejected));
  });
  it("name the arguments that they saw", () => {
    const decided = { type: "approval.decided", call: "r:a", decision: approve, by: "p" } as const;
    parked()
      .refuses({ ...decided, args_hash: "other" }, "stale_decision")
      .nothingMore();
  });
  it("are taken once", () => {
    const rig = parked();
    decide(rig, "r:a", approve).skip();
    const again = { type: "approval.decided", call: "r:a", decision: reject, args_hash: "h1", by: "q" } as const;
    rig.refuses(again, "wrong_phase").nothingMore();
  });
});

const checked = (rig: Rig, valid: boolean): Rig =>
  rig.tell({
    type: "args.checked",
    call: "r:a",
    args_hash: "h2",
    verdict: valid ? { verdict: "valid" } : { verdict: "invalid", message: "$.n: less" },
  });
const careful = (): Rig => {
  const rig = submit(Rig.open([guarded({ checks: true })]), "guarded").skip();
  rig.tell({ type: "args.checked", call: "r:a", verdict: { verdict: "valid" } }).skip();
  return prepared(rig, "r:a").skip();
};

describe("an approval with edited arguments", () => {
  it("has them checked again, and not hooked again", () => {
    const rig = careful();
    want(decide(rig, "r:a", edit), { type: "args.check", call: "r:a", args: { n: 9 } });
    expect(outstanding(rig.state)).toMatchObject([{ type: "args.check", args: { n: 9 } }]);
    want(checked(rig, true), { ...execute("r:a"), args: { n: 9 } });
  });
  it("is refused when they are not valid: the call stays parked as it was", () => {
    const rig = careful();
    decide(rig, "r:a", edit).skip();
    checked(rig, false).nothingMore();
    want(decide(rig, "r:a", approve), { ...execute("r:a"), args: { n: 0 } });
  });
  it("lets nobody else decide meanwhile", () => {
    const rig = decide(careful(), "r:a", edit).skip();
    const other = { type: "approval.decided", call: "r:a", decision: approve, args_hash: "h1", by: "q" } as const;
    rig.refuses(other, "wrong_phase").nothingMore();
  });
  it("runs at once where its tool checks nothing", () => {
    want(decide(parked(), "r:a", edit), { ...execute("r:a"), args: { n: 9 } });
  });
  it("holds for one call: it cannot be sticky", () => {
    const decided = { type: "approval.decided", call: "r:a", decision: edit, args_hash: "h1", by: "p" } as const;
    parked()
      .refuses({ ...decided, sticky: "later" }, "stale_decision")
      .nothingMore();
  });
});

describe("a sticky decision", () => {
  it("speaks for later calls of its tool, and not for those that are parked", () => {
    const rig = parked(2);
    want(decide(rig, "r:a", approve, "later"), execute("r:a"));
    rig
      .tell({ type: "request.submitted", request: "s", hash: "h", calls: [{ id: "z", tool: "guarded", args: null }] })
      .skip();
    want(prepared(rig, "s:z"), started("z"), execute("s:z"));
    want(decide(rig, "r:b", reject), completed("b", rejected));
  });
  it("speaks for parked ones where that is asked", () => {
    want(decide(parked(3), "r:b", approve, "parked_too"), execute("r:b"), execute("r:a"), execute("r:c"));
    const ends = [completed("b", rejected), completed("a", rejected), completed("c", rejected)];
    want(decide(parked(3), "r:b", reject, "parked_too"), ...ends, replied(rejected, rejected, rejected));
  });
});

describe("what a person is asked", () => {
  it("is told to observers once it is decided: approved, with which arguments, or rejected, and by whom", () => {
    const rig = parked(3);
    decide(rig, "r:a", approve, "parked_too").skip();
    const told = rig.decisions.map((command) => command.type === "observe" && [command.call, command.decided]);
    const decided = { decision: "approved", by: "p" };
    expect(told).toEqual([
      ["r:a", decided],
      ["r:b", decided],
      ["r:c", decided],
    ]);
    const refused = parked();
    decide(refused, "r:a", reject).skip();
    expect(refused.decisions).toMatchObject([
      { call: "r:a", args: { n: 0 }, decided: { decision: "rejected", by: "p" } },
    ]);
  });

  it("is listed, oldest first, with what a decision has to name", () => {
    const rig = parked(2, { approval_ms: 500 });
    const asked = { tool: "guarded", args: { n: 0 }, hash: "h1", born: 3, expiresAt: rig.state.at + 500 };
    expect(pendingApprovals(rig.state)).toEqual([
      { call: "r:a", label: "a", ...asked },
      { call: "r:b", label: "b", ...asked },
    ]);
    expect(rig.state.awaitingApproval).toBe(2);
  });
  it("is listed no more once it is decided on, expired or cancelled", () => {
    const decided = decide(decide(parked(3, { approval_ms: 500 }), "r:a", approve).skip(), "r:b", reject).skip();
    expect(pendingApprovals(decided.state).map(({ call }) => call)).toEqual(["r:c"]);
    expect(pendingApprovals(decided.tick(500).skip().state)).toEqual([]);
    expect(parked().tell({ type: "request.cancelled", request: "r" }).skip().state.awaitingApproval).toBe(0);
  });
  it("is listed while edited arguments are checked, and after they did not fit", () => {
    const rig = decide(careful(), "r:a", edit).skip();
    expect(rig.state.awaitingApproval).toBe(1);
    checked(rig, false).skip();
    expect(pendingApprovals(rig.state)).toMatchObject([{ call: "r:a", args: { n: 0 } }]);
  });
});

describe("one approval", () => {
  it("covers all attempts", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = decide(parked(1, { retry_policy }), "r:a", approve).skip();
    const again = failure("external", "busy", "x", { source: "tool", retry: { type: "safe" } });
    want(settle(rig, "r:a", again), execute("r:a", [2, 1]));
  });
  it("covers all resumes", () => {
    const rig = decide(parked(), "r:a", approve).skip();
    want(crash(rig), execute("r:a", [1, 2]));
    resume(rig, "r:a", [1, 2]).nothingMore();
  });
  it("does not cover the run-again of an unknown outcome, which keeps what its body waits for", () => {
    const rig = decide(parked(1, { recovery: "owner_bound" }), "r:a", approve).skip();
    ask(rig, "r:a", "w", { kind: "wait", wait: "k" }).skip();
    want(crash(rig), { type: "outcome.resolve", call: "r:a", cause: "owner_lost" });
    want(rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: "run_again" }, by: "p" }), waits("a"));
    rig.tell({ type: "wait.resolved", key: "k", resolution: { status: "ok", payload: 1 } }).nothingMore();
    want(decide(rig, "r:a", approve), { ...execute("r:a", [1, 2]), cause: "run_again" });
    expect(rig.state.calls.at("r:a")).toMatchObject({ body: { open: [] } });
  });
});
