/** Calls whose tool is away before they are launched: they wait for it, beside their batch, for a bounded time. */
import { describe, expect, it } from "vitest";
import { checkAll } from "../../src/check.ts";
import { why } from "../../src/explain/why.ts";
import { nextDeadline, outstanding } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  cancel,
  completed,
  crash,
  execute,
  failure,
  gone,
  replied,
  settle,
  started,
  submit,
  success,
  want,
} from "./words.ts";

const careful = tool("echo", { checks: true, prepares: true });
const plain = tool("plain");
const serial = tool("serial", { scheduling: "serial" });
const missing = { type: "call.tool_missing", call: "r:a" } as const;
const back = { type: "executors.available", tools: ["tool:echo"] } as const;
const valid = { type: "args.checked", call: "r:a", verdict: { verdict: "valid" } } as const;
const prepared = (args_hash = "h") =>
  ({
    type: "call.prepared",
    call: "r:a",
    preparation: { type: "prepared", tool_id: "tool:echo", args: { n: 0 }, args_hash, payload: { p: 1 } },
  }) as const;
const check = { type: "args.check", call: "r:a" } as const;
const prepare = { type: "tool.prepare", call: "r:a" } as const;
const noContract = failure("unavailable", "tool_contract_unavailable", "Tool contract is unavailable in this session");
const unavailable = failure("unavailable", "tool_unavailable", "Tool is unavailable in this session");

const open = (protocol = 2, ...tools: readonly string[]): Rig =>
  submit(Rig.open([careful, plain, serial], {}, protocol), "echo", ...tools);

describe("a call in preparation whose tool is away", () => {
  it("goes on where it stood when the tool is there", () => {
    const rig = want(open(), check);
    rig.tell(missing).nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "no_tool", waits: "args" });
    expect(checkAll(rig.state)).toBeUndefined();
    want(rig.tell(back), check);
    want(rig.tell(valid), prepare);
    rig.tell(missing).nothingMore();
    want(rig.tell(back), prepare);
    want(rig.tell(prepared()), started("a"), { ...execute("r:a"), payload: { p: 1 } });
    expect(checkAll(rig.state)).toBeUndefined();
  });
  it("fails as it did under protocol 1 when its time is over: of its check", () => {
    const rig = want(open(), check);
    rig.tell(missing).nothingMore();
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 900_000);
    rig.tick(899_999).nothingMore();
    want(rig.tick(1), started("a"), completed("a", noContract), replied(noContract));
  });
  it("fails as it did under protocol 1 when its time is over: of its preparation", () => {
    const rig = want(open(), check);
    want(rig.tell(valid), prepare);
    rig.tell(missing).nothingMore();
    want(rig.tick(900_000), started("a"), completed("a", unavailable), replied(unavailable));
  });
  it("ended at once under protocol 1", () => {
    const rig = want(open(1), check);
    rig.refuses(missing, "needs_protocol_2");
    want(
      rig.tell({ type: "args.checked", call: "r:a", verdict: { verdict: "no_contract" } }),
      started("a"),
      completed("a", noContract),
      replied(noContract),
    );
  });
  it("holds up no other call of its batch, and is launched beside them when it is ready", () => {
    const rig = want(open(2, "plain", "serial"), check);
    want(rig.tell(missing), started("b"), execute("r:b"));
    want(settle(rig, "r:b", success(1)), completed("b"), started("c"), execute("r:c"));
    want(settle(rig, "r:c", success(1)), completed("c"));
    want(rig.tell(back), check);
    want(rig.tell(valid), prepare);
    want(rig.tell(prepared()), started("a"), execute("r:a"));
    want(settle(rig, "r:a", success(1)), completed("a"), replied(success(1), success(1), success(1)));
  });
  it("waits for its turn where its tool comes back while the serial ones run", () => {
    const rig = want(open(2, "serial"), check);
    want(rig.tell(missing), started("b"), execute("r:b"));
    want(rig.tell(back), check);
    want(rig.tell(valid), prepare);
    rig.tell(prepared()).nothingMore();
    want(settle(rig, "r:b", success(1)), completed("b"), started("a"), execute("r:a"));
  });
  it("is asked for again after a crash, once the tool was back; while it is away nobody is asked", () => {
    const rig = want(open(), check);
    rig.tell(missing);
    expect(outstanding(rig.state)).toEqual([]);
    want(rig.tell(back), check);
    crash(rig).nothingMore();
    expect(outstanding(rig.state)).toMatchObject([check]);
    rig.tell(missing).nothingMore();
  });
  it("takes no answer while its tool is away, and is not missed twice", () => {
    const rig = want(open(), check);
    rig.tell(missing).refuses(valid, "wrong_phase").refuses(missing, "wrong_phase");
    want(rig.tell(back), check);
    rig.refuses(prepared(), "wrong_phase").tell(missing).nothingMore();
  });
  it("is parked for a person's word once its tool has prepared it", () => {
    const rig = submit(Rig.open([{ ...careful, checks: false, policy: "requires_approval" }], {}, 2), "echo");
    want(rig, prepare);
    rig.tell(missing).nothingMore();
    want(rig.tell(back), prepare);
    want(rig.tell(prepared()), started("a"), { type: "observe", what: "call_parked" });
    want(
      rig.tell({ type: "approval.decided", call: "r:a", decision: { type: "approve" }, args_hash: "h", by: "p" }),
      execute("r:a"),
    );
  });
  it("is cancelled at once", () => {
    const rig = want(open(), check);
    rig.tell(missing).nothingMore();
    want(cancel(rig), started("a"), completed("a", gone), replied(gone));
  });
  it("says what it waits for", () => {
    const rig = want(open(), check);
    rig.tell(missing);
    expect(why(rig.state).calls).toMatchObject([
      { what: { type: "executor", toolId: "tool:echo" }, movedBy: ["executors.available"], until: rig.at + 900_000 },
    ]);
    want(rig.tell(back), check);
    expect(why(rig.state).calls).toMatchObject([{ what: { type: "args_check" }, movedBy: ["args.checked"] }]);
  });
});

const goneBeforeLaunch = (protocol: number): Rig => {
  const rig = want(open(protocol), check);
  want(rig.tell(valid), prepare);
  rig.tell({ type: "catalog.published", tools: [plain] });
  return rig.tell(prepared());
};

describe("a call that is ready, and whose tool has left the catalog meanwhile", () => {
  it("is launched when the tool is back, with what it had prepared", () => {
    const rig = goneBeforeLaunch(2).nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "no_tool", waits: "launch" });
    expect(checkAll(rig.state)).toBeUndefined();
    rig.tell({ type: "catalog.published", tools: [careful, plain] });
    want(rig.tell(back), started("a"), { ...execute("r:a"), payload: { p: 1 } });
  });
  it("fails when its time is over", () => {
    const rig = goneBeforeLaunch(2).nothingMore();
    want(rig.tick(900_000), started("a"), completed("a", unavailable), replied(unavailable));
  });
  it("failed at once under protocol 1", () => {
    want(goneBeforeLaunch(1), started("a"), completed("a", unavailable), replied(unavailable));
  });
  it("fails at once where the tool is there and was switched off", () => {
    const rig = want(open(), check);
    want(rig.tell(valid), prepare);
    rig.tell({ type: "catalog.overridden", names: ["echo"], availability: "off" });
    want(rig.tell(prepared()), started("a"), completed("a", unavailable), replied(unavailable));
  });
  it("keeps the approval that it had", () => {
    const asks = { ...careful, checks: false, policy: "requires_approval" as const };
    const rig = want(submit(Rig.open([asks, plain], {}, 2), "echo"), prepare);
    rig.tell(prepared()).skip();
    rig.tell({ type: "catalog.published", tools: [plain] });
    rig.tell({ type: "approval.decided", call: "r:a", decision: { type: "approve" }, args_hash: "h", by: "p" });
    rig.nothingMore();
    rig.tell({ type: "catalog.published", tools: [asks, plain] });
    want(rig.tell(back), execute("r:a"));
  });
});

it("a body waits for a batch whose call waits for its tool, and leaves memory meanwhile", () => {
  const rig = submit(Rig.open([careful, plain], {}, 2), "plain").skip();
  const children = [{ id: "x", tool: "tool:echo", args: null }];
  const effect = { kind: "batch", calls: children } as const;
  rig.tell({ type: "effect.requested", call: "r:a", attempt: 1, run: 1, key: "b", hash: "h", effect }).skip();
  const suspended = { type: "call.suspended", call: "r:a", attempt: 1, run: 1 } as const;
  rig.refuses(suspended, "wrong_phase");
  rig.tell({ type: "call.tool_missing", call: "r:a/b/x" }).tell(suspended).nothingMore();
});
