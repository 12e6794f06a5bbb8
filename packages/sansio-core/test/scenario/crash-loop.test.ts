/** Tests what counts as a crash, what a crash leads to, and what happens at the limit. */
import { describe, expect, it } from "vitest";
import { why } from "../../src/explain/why.ts";
import { waitsWords } from "../../src/explain/words.ts";
import { defaultOptions } from "../../src/kernel/options.ts";
import { nextDeadline, outstanding, wakeAtOf } from "../../src/machine.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import type { CallRef } from "../../src/kernel/vocabulary.ts";
import type { Options } from "../../src/kernel/options.ts";
import type { Tool } from "../../src/catalog/model.ts";
import { Rig, protocols, tool } from "../rig.ts";
import * as E from "fp-ts/lib/Either.js";
import {
  type Run,
  ask,
  completed,
  crashAloud as crash,
  execute,
  failure,
  of,
  release,
  replied,
  resume,
  running,
  settle,
  step,
  stepOk,
  success,
  want,
} from "./words.ts";

const loop = failure(
  "external",
  "tool_outcome_unknown",
  "the outcome of `echo` is unknown: its owner was lost again and again while it ran",
);

const crashed = (count: number, resumes_in_ms?: number, at?: string): Parameters<Rig["wants"]>[0] => ({
  type: "observe",
  what: "call_crashed",
  call: "r:a" as CallRef,
  crash: {
    count,
    ...(resumes_in_ms === undefined ? {} : { resumes_in_ms }),
    ...(at === undefined ? {} : { step: at }),
  },
});

const young = (more: Partial<Tool> = {}, options: Partial<Options> = {}): Rig => running(more, options, 2);

/** The body starts again after its pause, as its owner says. */
const again = (rig: Rig, run: Run): Rig => {
  const { at = rig.at } = nextDeadline(rig.state) ?? {};
  if (at > rig.at) rig.skip().tick(at - rig.at);
  return resume(rig.skip(), "r:a", run).skip();
};

/** The call crashes so often, and runs again after each. */
const crashes = (rig: Rig, times: number, from = 1): Rig => {
  for (let n = 0; n < times; n++) again(crash(rig.skip()), [1, from + n + 1]);
  return rig;
};

const countOf = (rig: Rig): number => {
  const row = rig.state.calls.at("r:a");
  return row !== undefined && "body" in row ? (row.body?.resumes ?? -1) : -1;
};

describe("a crash", () => {
  it("is an owner lost while the body ran, and nothing was recorded of it since it started", () => {
    const rig = young();
    want(crash(rig), crashed(1, 0), { ...execute("r:a", [1, 2]), cause: "owner_lost" });
    expect(countOf(again(rig, [1, 2]))).toBe(1);
  });
  it("is none where the owner had released the scope", () => {
    const rig = young();
    for (let run = 2; run < 20; run++) {
      want(release(rig), execute("r:a", [1, run]));
      resume(rig, "r:a", [1, run]).skip();
    }
    expect(countOf(rig)).toBe(0);
  });
  it("leaves a count as it was where the owner had released the scope", () => {
    const rig = crashes(young(), 3);
    want(release(rig), execute("r:a", [1, 5]));
    expect(countOf(rig)).toBe(3);
  });
  it("is none where something was recorded since the body started", () => {
    const rig = crashes(young(), 4);
    ask(rig, "r:a", "s", step(), [1, 5]).skip();
    want(crash(rig), execute("r:a", [1, 6]));
    expect(countOf(rig)).toBe(0);
    crash(again(rig, [1, 6]));
    want(rig, crashed(1, 0, "s"), execute("r:a", [1, 7]));
  });
  it("is none while the call is suspended, pauses, or waits for its next run", () => {
    const rig = young();
    ask(rig, "r:a", "w", { kind: "wait", wait: "k" }).skip();
    rig.tell({ type: "call.suspended", ...of("r:a") }).skip();
    for (let n = 0; n < 10; n++) crash(rig).nothingMore();
    expect(countOf(rig)).toBe(0);
    const paused = crash(crashes(young(), 4)).skip();
    for (let n = 0; n < 10; n++) crash(paused).nothingMore();
    expect(countOf(paused)).toBe(5);
  });
  it("stays one where the body continues with other arguments", () => {
    const rig = crashes(young(), 2);
    rig.tell({ type: "call.continued", ...of("r:a", [1, 3]), args: { n: 1 } }).skip();
    resume(rig, "r:a", [1, 4], "continued").skip();
    want(crash(rig), crashed(3, 1000));
  });
  it("begins anew with the next attempt", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = crashes(young({ retry_policy }), 3);
    const output = failure("external", "busy", "try again", { source: "tool", retry: { type: "safe" } });
    settle(rig, "r:a", output, [1, 4]).skip();
    want(crash(rig), crashed(1, 0), execute("r:a", [2, 2]));
  });
  it("is that of an executor whose lease ended, and none where it said farewell", () => {
    const rig = young();
    rig.tell({ type: "call.dispatched", ...of("r:a"), owner: "executor:x" }).nothingMore();
    want(rig.tell({ type: "owner.lost", owner: "executor:x" }), crashed(1, 0), execute("r:a", [1, 2]));
    const other = young();
    other.tell({ type: "call.dispatched", ...of("r:a"), owner: "executor:x" }).nothingMore();
    want(other.tell({ type: "owner.lost", owner: "executor:x", went: "released" }), execute("r:a", [1, 2]));
    expect(countOf(other)).toBe(0);
  });
  it("is none where the scope has moved to another host", () => {
    const rig = crashes(young(), 2);
    rig.tell({ type: "scope.moving", to: "h", nonce: "n" }).skip();
    want(rig.tell({ type: "scope.received", nonce: "n", epoch: 9, owner: "d9" }), execute("r:a", [1, 4]));
    expect(countOf(rig)).toBe(2);
  });
});

describe("the pause after a crash", () => {
  it("is 0, 0, 1, 2, 5, 10, 10, … seconds, said with the count and the step", () => {
    const rig = young();
    ask(rig, "r:a", "durable-step:hotel", step()).skip();
    again(crash(rig), [1, 2]);
    const seconds = [0, 0, 1, 2, 5, 10, 10, 10];
    for (const [n, pause] of seconds.entries()) {
      crash(rig).wants(crashed(n + 1, 1000 * pause, "durable-step:hotel"));
      if (pause === 0) rig.wants({ type: "tool.execute", run: n + 3 });
      expect(nextDeadline(rig.nothingMore().state)?.at).toBe(pause === 0 ? undefined : rig.at + 1000 * pause);
      again(rig, [1, n + 3]);
    }
  });
  it("is that of the options, the last of them for all that follow", () => {
    const rig = young({}, { crash_pauses_ms: [7] });
    for (const n of [1, 2, 3]) {
      want(crash(rig), crashed(n, 7));
      again(rig, [1, n + 1]);
    }
    want(crash(young({}, { crash_pauses_ms: [] })), crashed(1, 0), execute("r:a", [1, 2]));
  });
  it("is explained", () => {
    const rig = young();
    ask(rig, "r:a", "durable-step:hotel", step()).skip();
    crash(crashes(again(crash(rig), [1, 2]), 3, 2)).skip();
    const [reason] = why(rig.state).calls;
    expect(reason).toMatchObject({ phase: "resuming", until: rig.at + 2000 });
    expect(reason && waitsWords(reason.what)).toBe(
      "the pause after 4 crashes in a row, last in step `hotel` (attempt 1, run 6)",
    );
  });
  it("is over when its time has passed, whoever owns the scope by then", () => {
    const rig = crash(crashes(young(), 4)).skip();
    crash(rig).nothingMore();
    want(rig.tick(5000), execute("r:a", [1, 6]));
  });
});

const parked = { type: "observe", what: "call_unknown", call_id: "a", cause: "crash_loop" } as const;

/** A call that has crashed four times in a row, and may not more often. */
const atLimit = (more: Partial<Tool> = {}, options: Partial<Options> = {}): Rig =>
  crash(crashes(young(more, { max_crashes: 4, ...options }), 3));

describe("a call at the limit of crashes", () => {
  it("is parked, and asks for nothing where nobody resolves outcomes", () => {
    const rig = atLimit();
    want(rig, crashed(4), parked);
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "unknown", cause: "crash_loop" });
    expect(outstanding(rig.state)).toEqual([]);
    expect(nextDeadline(rig.state)).toBeUndefined();
    expect(wakeAtOf(rig.state)).toBeDefined(); // Whoever opens the scope next may have other code.
    for (let n = 0; n < 5; n++) crash(rig).nothingMore();
    expect(rig.state.calls.at("r:a")?.phase).toBe("unknown");
    const [reason] = why(rig.state).calls;
    expect(reason && waitsWords(reason.what)).toBe(
      "somebody to resolve its outcome, which is unknown: its process died again and again while it ran (4 crashes in a row)",
    );
  });
  it("is that of 100 where the options say nothing", () => {
    const rig = crashes(young(), 99);
    expect(rig.state.calls.at("r:a")?.phase).toBe("running");
    crash(rig).skip();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "unknown", cause: "crash_loop", body: { resumes: 100 } });
  });
  it("leaves its slot to others", () => {
    const rig = Rig.open([tool("echo")], { max_crashes: 1, concurrency: 1 }, 2);
    const calls = [
      { id: "a", tool: "echo", args: 1 },
      { id: "b", tool: "echo", args: 2 },
    ];
    rig.tell({ type: "request.submitted", request: "r", hash: "h", calls }).skip();
    crash(rig).wants(crashed(1)).wants(parked).wants({ type: "observe", what: "call_started", call_id: "b" });
    rig.wants({ type: "tool.execute", run: 1 }).nothingMore();
  });
  it("asks the resolver, at every opening until it answers", () => {
    const asked = { type: "outcome.resolve", call: "r:a", cause: "crash_loop", tool: "echo" } as const;
    const rig = atLimit({}, { resolver: true });
    want(rig, crashed(4), asked, parked);
    expect(outstanding(crash(rig).nothingMore().state)).toEqual([asked]);
    rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: "give_up" } });
    want(rig, { ...completed("a", loop), cause: "crash_loop" }, replied(loop));
  });
  it("fails where its tool says so, with its cause beside the output in row, observation and reply", () => {
    const rig = atLimit({ on_crash_loop: "fail" }, { after_hook: true, projection: true });
    rig.wants({ type: "hook.run", phase: "after" }).nothingMore();
    rig.tell({ type: "hook.ran", call: "r:a", phase: "after", outcome: { status: "ok", directives: [] } });
    rig.wants({ type: "result.project" }).nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "finishing", cause: "crash_loop", output: loop });
    const restored = restore(snapshot(rig.state) as never);
    expect(E.isRight(restored) && restored.right.calls.at("r:a")).toMatchObject({ cause: "crash_loop" });
    rig.tell({ type: "result.projected", call: "r:a", parts: null });
    rig.wants({ type: "observe", what: "call_completed", cause: "crash_loop", output: loop });
    rig.wants({ type: "reply", replies: [{ cause: "crash_loop", output: loop }] as never }).nothingMore();
  });
  it("that was told to stop is taken at its word", () => {
    const rig = young({}, { max_crashes: 2 });
    ask(rig, "r:a", "c", { kind: "cleanup", deadline_ms: 10 }).skip();
    rig.tell({ type: "request.cancelled", request: "r" }).skip();
    again(crash(again(crash(rig), [1, 2])), [1, 3]);
    want(crash(rig), completed("a"), { type: "reply" });
  });
});

describe("a call of unknown outcome that is to run again", () => {
  const asked = { type: "outcome.resolve", call: "r:a" } as const;
  const runAgain = { type: "outcome.resolved", call: "r:a", resolved: { type: "run_again" } } as const;

  it("pauses and counts as after a crash, if its resolver says so: there is no loop without a pause", () => {
    const rig = young({ recovery: "owner_bound" }, { resolver: true });
    for (const [n, pause] of [0, 0, 1000, 2000, 5000, 10_000, 10_000].entries()) {
      want(crash(rig), asked);
      rig.tell(runAgain).wants(crashed(n + 1, pause));
      if (pause > 0) rig.nothingMore().tick(pause);
      want(rig, { ...execute("r:a", [1, n + 2]), cause: "run_again" });
      resume(rig, "r:a", [1, n + 2], "run_again").skip();
    }
  });
  it("goes on beyond the limit only by a resolver's word, each time after a pause", () => {
    const rig = young({}, { resolver: true, max_crashes: 3 });
    crash(crashes(rig, 2)).skip();
    rig.tell(runAgain).wants(crashed(4, 2000)).nothingMore();
    want(rig.tick(2000), execute("r:a", [1, 4]));
    resume(rig, "r:a", [1, 4], "run_again").skip();
    want(crash(rig), crashed(5), asked, parked);
  });
  it("begins to count anew where a person says so, and runs at once", () => {
    const rig = crash(crashes(young({}, { max_crashes: 3 }), 2)).skip();
    want(rig.tell({ ...runAgain, by: "p" }), execute("r:a", [1, 4]));
    resume(rig, "r:a", [1, 4], "run_again").skip();
    want(crash(rig), crashed(1, 0), execute("r:a", [1, 5]));
  });
});

describe("the outcome of a call that nobody runs again", () => {
  it("has its cause beside it in protocol 2, and only there", () => {
    for (const protocol of protocols) {
      const rig = crash(running({ recovery: "owner_bound" }, {}, protocol));
      const cause = protocol === 1 ? {} : { cause: "owner_lost" };
      rig.wants({ type: "observe", what: "call_completed", ...cause } as never);
      const reply = rig.wants({ type: "reply" }).nothingMore().state.requests.at("r");
      expect(reply?.phase === "replying" && "cause" in (reply.replies[0] ?? {})).toBe(protocol === 2);
    }
  });
});

describe("protocol 1", () => {
  it("counts every loss, released or not, and refuses what it has no field for", () => {
    const rig = running({}, {}, 1);
    ask(rig, "r:a", "s", step()).skip();
    stepOk(rig, "r:a", "s").skip();
    want(crash(rig), execute("r:a", [1, 2]));
    expect(countOf(rig)).toBe(1);
    const { options, protocol, epoch } = rig.state.scope;
    const opened = { type: "scope.opened", epoch: epoch + 1, owner: "d", protocol, options } as const;
    rig.refuses({ ...opened, last_owner: "lost" }, "needs_protocol_2");
    rig.refuses({ ...opened, options: { ...options, max_crashes: 3 } }, "needs_protocol_2");
    rig.refuses({ type: "scope.configured", options: { ...options, crash_pauses_ms: [] } }, "needs_protocol_2");
    const result = { type: "done", output: success(1) } as const;
    resume(rig, "r:a", [1, 2]).skip();
    const settled = { type: "call.settled", ...of("r:a", [1, 2]), result, duration_ms: 1 } as const;
    rig.refuses({ ...settled, cause: "owner_lost" }, "needs_protocol_2");
  });
  it("is left with an upgrade: the next loss is judged by protocol 2, its count goes on", () => {
    const rig = running({}, {}, 1);
    resume(crash(rig).skip(), "r:a", [1, 2]).skip();
    rig.upgrade().skip();
    want(crash(rig), crashed(2, 0), execute("r:a", [1, 3]));
  });
});

it("a limit of no crashes is refused", () => {
  const options = { ...defaultOptions, max_crashes: 0 };
  new Rig().refuses({ type: "scope.opened", epoch: 1, owner: "d1", protocol: 2, options }, "invalid_option");
});
