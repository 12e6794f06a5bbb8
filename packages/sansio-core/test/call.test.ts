import { failureOutput, safeRetryFailure, successOutput } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { nextDeadline, outstanding } from "../src/machine.ts";
import { Rig, tool } from "./rig.ts";

const done = (value: string) => ({ type: "done", output: successOutput(value) }) as const;
const run = (call: string, attempt = 1, n = 1) => ({ call, attempt, run: n });
const submit = (rig: Rig, ...tools: readonly string[]): Rig =>
  rig.tell({
    type: "request.submitted",
    request: "r",
    hash: "h",
    calls: tools.map((name, i) => ({ id: `c${i + 1}`, tool: name, args: { n: i } })),
  });

describe("a call", () => {
  it("goes from request to acknowledged reply", () => {
    const rig = submit(Rig.open([tool("echo")]), "echo");
    rig.wants({ type: "observe", what: "call_started", call_id: "c1" });
    rig.wants({ type: "tool.execute", call: "r:c1" as never, attempt: 1, run: 1, args: { n: 0 } });
    rig.tell({ type: "call.settled", ...run("r:c1"), result: done("hi"), duration_ms: 7 });
    rig.wants({ type: "observe", what: "call_completed", duration_ms: 7 });
    rig.wants({ type: "reply", request: "r" });
    rig.nothingMore();
    expect(outstanding(rig.state)).toMatchObject([{ type: "reply", request: "r", replies: [{ call_id: "c1" }] }]);
    rig.tell({ type: "reply.acked", request: "r" }).nothingMore();
    expect(outstanding(rig.state)).toEqual([]);
    expect(rig.state.calls.size + rig.state.requests.size + rig.state.batches.size).toBe(0);
  });

  it("is refused by name when its tool is not there, and observed as started and completed", () => {
    const rig = submit(Rig.open([]), "echo");
    rig.wants({ type: "observe", what: "call_started" });
    rig.wants({ type: "observe", what: "call_completed" });
    rig.wants({ type: "reply" }).nothingMore();
  });

  it("retries a safe failure after its delay, and says when it is exhausted", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 100, max_delay_ms: 0 } as const;
    const rig = submit(Rig.open([tool("echo", { retry_policy })]), "echo").skip();
    const failed = { type: "done", output: failureOutput(safeRetryFailure("execution", "x", "y")) } as const;
    rig.tell({ type: "call.settled", ...run("r:c1"), result: failed, duration_ms: 1 }).nothingMore();
    expect(nextDeadline(rig.state)).toMatchObject({ at: rig.at + 100, key: "r:c1" });
    rig.tick(100).wants({ type: "tool.execute", attempt: 2, run: 1 }).nothingMore();
    rig.tell({ type: "call.settled", ...run("r:c1", 2), result: failed, duration_ms: 1 });
    rig.wants({ type: "observe", what: "call_completed" });
    rig.wants({ type: "reply" });
    expect(outstanding(rig.state)).toMatchObject([
      { replies: [{ output: { outcome: { payload: { retry: { type: "exhausted", attempts: 2 } } } } }] },
    ]);
  });

  it("starts again after its owner is lost, when its tool can be run again", () => {
    const rig = submit(Rig.open([tool("echo")]), "echo").skip();
    rig.tell({
      type: "effect.requested",
      ...run("r:c1"),
      key: "durable-step:a",
      hash: "h",
      effect: { kind: "step", recovery: "again", input: null },
    });
    rig.wants({ type: "step.run", key: "durable-step:a" }).nothingMore();
    const { protocol, options } = rig.state.scope;
    rig.tell({ type: "scope.opened", epoch: 2, owner: "d2", protocol, options });
    rig.wants({ type: "tool.execute", attempt: 1, run: 2, cause: "owner_lost" }).nothingMore();
    expect(outstanding(rig.state)).toMatchObject([{ type: "tool.execute", run: 2 }]);
    rig.refuses({ type: "call.settled", ...run("r:c1"), result: done("x"), duration_ms: 1 }, "wrong_phase");
    rig.tell({ type: "call.resumed", ...run("r:c1", 1, 2), cause: "owner_lost", owner: "d2" }).nothingMore();
    rig.refuses({ type: "call.settled", ...run("r:c1"), result: done("x"), duration_ms: 1 }, "stale_run");
    rig.tell({ type: "step.settled", ...run("r:c1", 1, 2), key: "durable-step:a", result: { status: "ok", value: 1 } });
    rig.wants({ type: "step.answer", key: "durable-step:a", seq: rig.state.seq, value: rig.state.seq }).nothingMore();
  });
});
