import { describe, expect, it } from "vitest";
import type { RetryPolicy } from "../../src/catalog/model.ts";
import { nextDeadline } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  busy,
  cancelled,
  completed,
  execute,
  failure,
  leave,
  of,
  replied,
  running,
  settle,
  step,
  stepErr,
  stepOk,
  submit,
  success,
  want,
} from "./words.ts";

const safe = { type: "safe", max_attempts: 3, base_delay_ms: 100, max_delay_ms: 150 } as const;
const called = (retry_policy: RetryPolicy): Rig => running({ retry_policy });
const exhausted = (attempts: number) =>
  failure("external", "busy", "try again", { source: "tool", retry: { type: "exhausted", attempts } });

describe("a call that is tried again", () => {
  it("pauses base · 2^k, capped, and starts again under the same call", () => {
    const rig = called(safe);
    settle(rig, "r:a", busy()).nothingMore();
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 100);
    rig.tick(99).nothingMore();
    want(rig.tick(1), execute("r:a", [2, 1]));
    settle(rig, "r:a", busy(), [2, 1]).nothingMore();
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 150);
    want(rig.tick(150), execute("r:a", [3, 1]));
    want(settle(rig, "r:a", success("ok"), [3, 1]), completed("a", success("ok")), replied(success("ok")));
  });
  it("says after the last attempt how many there were, and changes nothing else", () => {
    const rig = called({ ...safe, max_attempts: 1 });
    want(settle(rig, "r:a", busy()), completed("a", exhausted(1)), replied(exhausted(1)));
  });
  it("pauses as long as the failure asks", () => {
    const rig = called(safe);
    settle(rig, "r:a", busy(20)).nothingMore();
    want(rig.tick(20), execute("r:a", [2, 1]));
  });
  it("starts at once when the pause is nothing", () => {
    want(settle(called(safe), "r:a", busy(0)), execute("r:a", [2, 1]));
  });
  it("counts its attempts in what it hands to the tool", () => {
    want(
      submit(Rig.open([tool("echo", { retry_policy: safe })]), "echo"),
      { type: "observe" },
      { ...execute("r:a"), max_attempts: 3 },
    );
    want(submit(Rig.open([tool("echo")]), "echo"), { type: "observe" }, { ...execute("r:a"), max_attempts: 1 });
  });
});

describe("a call that is not tried again", () => {
  it("ended otherwise than by a failure that says it is safe", () => {
    for (const output of [failure("execution", "x", "y", { source: "tool" }), cancelled("no"), success(1)]) {
      want(settle(called(safe), "r:a", output), completed("a", output), replied(output));
    }
  });
  it("has the policy never: the failure passes through with `safe` intact", () => {
    want(settle(called({ type: "never" }), "r:a", busy()), completed("a", busy()), replied(busy()));
  });
  it("is cancelled while it pauses: a failure, not a cancelled outcome", () => {
    const rig = called(safe);
    settle(rig, "r:a", busy()).nothingMore();
    const message =
      "retry sleep for tool `echo` failed after attempt 1: runtime_effect_sleep_cancelled: runtime effect sleep was cancelled";
    const output = failure("internal", "tool_retry_sleep_failed", message);
    want(rig.tell({ type: "request.cancelled", request: "r" }), completed("a", output), replied(output));
  });
  it("was told to stop, and failed so that it could be tried again", () => {
    const rig = called(safe);
    rig.tell({ type: "request.cancelled", request: "r" }).skip();
    want(settle(rig, "r:a", busy()), completed("a", busy()), replied(busy()));
  });
});

const again = (): Rig => {
  const rig = called({ ...safe, base_delay_ms: 0 });
  stepOk(ask(rig, "r:a", "ok", step()).skip(), "r:a", "ok").skip();
  stepErr(ask(rig, "r:a", "err", step()).skip(), "r:a", "err").skip();
  stepErr(ask(rig, "r:a", "once", step("once")).skip(), "r:a", "once").skip();
  ask(rig, "r:a", "open", step("once")).skip();
  ask(rig, "r:a", "left", step()).skip();
  return want(leave(rig, "r:a", busy(), "open", "left"), execute("r:a", [2, 1]));
};

describe("the steps of an earlier attempt", () => {
  it("that succeeded are answered from the log, and take their place anew", () => {
    const rig = again();
    const at = rig.log.find(({ event }) => event.type === "step.settled")?.seq;
    rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "ok" });
    want(rig, { type: "step.answer", key: "ok", seq: rig.state.seq, index: 0, value: at as number });
    rig.refuses({ type: "effect.reused", call: "r:a", attempt: 2, key: "ok" }, "effect_exists");
  });
  it("that failed run again", () => {
    const rig = again();
    rig.refuses({ type: "effect.reused", call: "r:a", attempt: 2, key: "err" }, "effect_exists");
    want(ask(rig, "r:a", "err", step(), [2, 1]), { type: "step.run", key: "err", attempt: 2 });
  });
  it("that may run only once keep their failure", () => {
    const rig = again();
    want(rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "once" }), {
      type: "step.answer",
      key: "once",
    });
  });
  it("that are open are abandoned, but for those that may run only once", () => {
    const rig = again();
    want(ask(rig, "r:a", "left", step(), [2, 1]), { type: "step.run", key: "left", attempt: 2 });
    const same = {
      type: "effect.requested",
      ...of("r:a", [2, 1]),
      key: "open",
      hash: "h:open",
      effect: step("once"),
    } as const;
    rig.refuses(same, "effect_exists");
    const unknown = stepErr(rig, "r:a", "open", [2, 1], "step_outcome_unknown");
    want(unknown, { type: "step.answer", key: "open", attempt: 2 });
  });
  it("settle no more once their attempt is over", () => {
    const late = { type: "step.settled", ...of("r:a"), key: "left", result: { status: "ok", value: 1 } } as const;
    again().refuses(late, "stale_run").nothingMore();
  });
});
