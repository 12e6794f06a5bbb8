/** The end of a body waits for what it began outside. */
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { Options } from "../../src/kernel/options.ts";
import type { Tool } from "../../src/catalog/model.ts";
import { awaitedEffects } from "../../src/call/finish.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  busy,
  cancel,
  completed,
  execute,
  of,
  pend,
  replied,
  resume,
  running,
  settle,
  step,
  stepOk,
  submit,
  success,
  want,
} from "./words.ts";

const safe = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;

const called = (protocol = 2, more: Partial<Tool> = {}, options: Partial<Options> = {}): Rig =>
  running(more, options, protocol);

const settled = (more: object = {}): Event => ({
  type: "call.settled",
  ...of("r:a"),
  result: { type: "done", output: success("ok") },
  duration_ms: 5,
  ...more,
});
const continued = (more: object = {}): Event => ({ type: "call.continued", ...of("r:a"), args: 1, ...more });
const host = { kind: "host", name: "now", input: null } as const;
const awaited = (rig: Rig): readonly string[] => awaitedEffects(rig.state, "r:a");

describe("the end of a body under protocol 1", () => {
  it("leaves a step that runs, and nothing says so", () => {
    const rig = ask(called(1), "r:a", "a", step()).skip();
    want(rig.tell(settled()), completed("a"), replied(success("ok")));
  });
  it("begins the next attempt beside a step of the last", () => {
    const rig = ask(called(1, { retry_policy: safe }), "r:a", "a", step()).skip();
    want(settle(rig, "r:a", busy()), execute("r:a", [2, 1]));
    want(ask(rig, "r:a", "a", step(), [2, 1]), { type: "step.run", key: "a", attempt: 2 });
  });
  it("says of no effect that it left it", () => {
    ask(called(1), "r:a", "a", step())
      .skip()
      .refuses(settled({ left: ["a"] }), "needs_protocol_2")
      .refuses(continued({ left: ["a"] }), "needs_protocol_2");
  });
});

describe("the end of a body", () => {
  it("comes when the last of its steps has settled", () => {
    const rig = called();
    ask(ask(rig, "r:a", "a", step()).skip(), "r:a", "b", step()).skip();
    rig.refuses(settled(), "effects_open");
    stepOk(rig, "r:a", "a").skip().refuses(settled(), "effects_open");
    want(stepOk(rig, "r:a", "b").skip().tell(settled()), completed("a"), replied(success("ok")));
  });

  it("comes when the host has answered", () => {
    const rig = ask(called(), "r:a", "h", host).skip();
    const { seq, hash } = bodyOpen(rig);
    rig.refuses(settled(), "effects_open").refuses(continued(), "effects_open");
    rig.tell({ type: "host.answered", call: "r:a", key: "h", seq, hash, result: { status: "ok", value: 1 } }).skip();
    rig.tell(continued());
  });

  it("comes for a next attempt as for the end of the call, and for what completes outside", () => {
    const rig = ask(called(2, { retry_policy: safe }), "r:a", "a", step()).skip();
    rig.refuses(settled({ result: { type: "done", output: busy() } }), "effects_open");
    rig.refuses(
      settled({ result: { type: "pending", key: "k", pending: { on_timeout: "fail_turn", on_cancel: "ignore" } } }),
      "effects_open",
    );
    want(settle(stepOk(rig, "r:a", "a").skip(), "r:a", busy()), execute("r:a", [2, 1]));
    want(ask(rig, "r:a", "b", step(), [2, 1]), { type: "step.run" });
    stepOk(rig, "r:a", "b", [2, 1]).skip();
    rig.tell(settled({ attempt: 2 })).skip();
  });

  it("waits for no sleep, wait, clean-up or choice among them", () => {
    const rig = called();
    ask(rig, "r:a", "s", { kind: "sleep", ms: 1000 });
    ask(rig, "r:a", "w", { kind: "wait", wait: "k" });
    ask(rig, "r:a", "c", { kind: "cleanup", deadline_ms: 5 });
    ask(rig, "r:a", "x", { kind: "select", mode: "race", keys: ["s", "w"] });
    expect(awaited(rig)).toEqual([]);
    rig.tell(settled()).skip();
  });

  it("waits for no answer of a process", () => {
    const rig = called();
    const message = { type: "process.cancel", reason: "r", payload_hash: "h" } as const;
    rig.tell({
      type: "effect.requested",
      ...of("r:a"),
      key: "m",
      hash: "h",
      effect: { kind: "message", to: "process:p", message, holder: { session_id: "s" } },
    });
    rig.skip().tell(settled()).skip();
  });

  it("waits for no step between two tries", () => {
    const rig = ask(called(), "r:a", "a", step()).skip();
    const error = { code: "no", message: "no" };
    rig.tell({ type: "step.failed", ...of("r:a"), key: "a", try: 1, error, retry_in_ms: 1000 });
    rig.tell(settled()).skip();
  });

  it.each(["race", "any"] as const)("waits for no loser of a %s", (mode) => {
    const rig = called();
    ask(ask(rig, "r:a", "a", step()).skip(), "r:a", "b", step()).skip();
    ask(rig, "r:a", "x", { kind: "select", mode, keys: ["a", "b"] });
    expect(awaited(rig)).toEqual(["a", "b"]);
    stepOk(rig, "r:a", "a").skip();
    expect(awaited(rig)).toEqual([]);
    rig.tell(settled()).skip();
  });

  it("waits for no member of an `all` that another has failed", () => {
    const rig = called();
    ask(ask(rig, "r:a", "a", step()).skip(), "r:a", "b", step()).skip();
    ask(rig, "r:a", "x", { kind: "select", mode: "all", keys: ["a", "b"] });
    const result = { status: "err", error: { code: "no", message: "no" } } as const;
    rig.tell({ type: "step.settled", ...of("r:a"), key: "b", result }).skip();
    expect(awaited(rig)).toEqual([]);
  });

  it("waits for the loser of a choice that is decided as it is made no more than for any other", () => {
    const rig = called();
    ask(ask(rig, "r:a", "a", step()).skip(), "r:a", "b", step()).skip();
    stepOk(rig, "r:a", "a").skip();
    expect(awaited(rig)).toEqual(["b"]);
    ask(rig, "r:a", "x", { kind: "select", mode: "race", keys: ["a", "b"] }).skip();
    expect(awaited(rig)).toEqual([]);
  });

  it("waits for no loser in a later attempt, which reuses the choice", () => {
    const rig = called(2, { retry_policy: safe });
    ask(ask(rig, "r:a", "a", step()).skip(), "r:a", "b", step()).skip();
    ask(rig, "r:a", "x", { kind: "select", mode: "race", keys: ["a", "b"] });
    stepOk(rig, "r:a", "b").skip();
    settle(rig, "r:a", busy()).skip();
    ask(rig, "r:a", "a", step(), [2, 1]).skip();
    expect(awaited(rig)).toEqual(["a"]);
    rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "b" }).skip();
    rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "x", keys: ["a", "b"] }).skip();
    expect(awaited(rig)).toEqual([]);
  });

  it("waits for a batch while a call of it is at work, and for no other", () => {
    const tools = [tool("echo"), tool("guarded", { policy: "requires_approval" })];
    const rig = submit(Rig.open(tools, {}, 2), "echo").skip();
    const calls = [
      { id: "x", tool: "tool:echo", args: 1 },
      { id: "y", tool: "tool:guarded", args: 1 },
    ];
    ask(rig, "r:a", "b", { kind: "batch", calls }).skip();
    const preparation = { type: "prepared", tool_id: "tool:guarded", args: {}, args_hash: "h", payload: null } as const;
    rig.refuses(settled(), "effects_open");
    rig.tell({ type: "call.prepared", call: "r:a/b/y", preparation }).skip();
    rig.refuses(settled(), "effects_open");
    settle(rig, "r:a/b/x", success(1)).skip();
    expect(rig.state.calls.at("r:a/b/y")?.phase).toBe("awaiting_approval");
    rig.tell(settled()).skip();
    expect(rig.state.batches.size).toBe(0);
  });

  it("waits until the replies of a batch are on record", () => {
    const rig = called();
    ask(rig, "r:a", "b", { kind: "batch", calls: [{ id: "x", tool: "tool:echo", args: 1 }] }).skip();
    pend(rig, "r:a/b/x", "k").skip();
    expect(awaited(rig)).toEqual([]);
    rig.tell({ type: "wait.resolved", key: "k", resolution: { status: "ok", payload: 1 } }).skip();
    rig.refuses(settled(), "effects_open");
  });

  it("waits for nothing that an earlier attempt left", () => {
    const rig = ask(called(2, { retry_policy: safe }), "r:a", "pay", step("once")).skip();
    rig.tell(settled({ result: { type: "done", output: busy() }, left: ["pay"] })).skip();
    rig.tell(settled({ attempt: 2 })).skip();
  });

  it("says what it leaves, and leaves nothing else", () => {
    const rig = called();
    ask(ask(rig, "r:a", "a", step()).skip(), "r:a", "b", step()).skip();
    rig.refuses(settled({ left: ["a"] }), "effects_open").refuses(continued({ left: ["b"] }), "effects_open");
    rig.refuses(settled({ left: ["a", "b", "c"] }), "effect_unknown");
    rig.tell(continued({ left: ["a", "b"] })).skip();
    resume(rig, "r:a", [1, 2], "continued");
    want(ask(rig, "r:a", "a", step(), [1, 2]), { type: "step.run", key: "a", run: 2 });
  });

  it("waits for its grace only where the call is cancelled", () => {
    const rig = ask(called(), "r:a", "a", step()).skip();
    cancel(rig).skip().tell(settled()).skip();
  });
});

const bodyOpen = (rig: Rig): { readonly seq: number; readonly hash: string } => {
  const row = rig.state.calls.at("r:a");
  const open = row?.phase === "running" ? row.body.open[0] : undefined;
  if (open === undefined) throw new Error("nothing is open");
  return open;
};

const answer = (more: object): Event => ({
  type: "host.answered",
  call: "r:a",
  key: "h",
  result: { status: "ok", value: 1 },
  ...more,
});
/** The host has a request of the first life when the second asks under the same key. */
const anew = (protocol: number): { readonly rig: Rig; readonly first: { seq: number; hash: string } } => {
  const rig = ask(called(protocol), "r:a", "h", host).skip();
  const first = bodyOpen(rig);
  rig.tell(continued(protocol === 1 ? {} : { left: ["h"] })).skip();
  resume(rig, "r:a", [1, 2], "continued");
  ask(rig, "r:a", "h", host, [1, 2]).skip();
  return { rig, first };
};

describe("an answer of the host", () => {
  it("is taken for another request under protocol 1, where both have one key", () => {
    const { rig } = anew(1);
    want(rig.tell(answer({})), { type: "step.answer", key: "h" });
  });

  it("is refused where it is of another request, or names none", () => {
    const { rig, first } = anew(2);
    rig.refuses(answer({ seq: first.seq, hash: first.hash }), "stale_answer").refuses(answer({}), "stale_answer");
    const { seq, hash } = bodyOpen(rig);
    rig.refuses(answer({ seq, hash: "h:other" }), "stale_answer");
    want(rig.tell(answer({ seq, hash })), { type: "step.answer", key: "h" });
  });

  it("counts in a later run than the one that asked", () => {
    const rig = ask(called(2), "r:a", "h", host).skip();
    const { seq, hash } = bodyOpen(rig);
    const { epoch, options, protocol } = rig.state.scope;
    rig.tell({ type: "scope.opened", epoch: epoch + 1, owner: "d2", protocol, options }).skip();
    rig.tell(answer({ seq, hash })).skip();
    expect(bodySettled(rig)).toEqual(["h"]);
  });
});

const bodySettled = (rig: Rig): readonly string[] => {
  const row = rig.state.calls.at("r:a");
  return row !== undefined && "body" in row ? [...(row.body?.settled.keys() ?? [])] : [];
};
