/** A call whose program no longer asks what its log records is parked; another version, or somebody's word, ends that. */
import { describe, expect, it } from "vitest";
import type { CallRow } from "../../src/call/model.ts";
import type { Options } from "../../src/kernel/options.ts";
import type { Tool } from "../../src/catalog/model.ts";
import { type Versions, unnamedVersion } from "../../src/scope/model.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { outstanding } from "../../src/machine.ts";
import { why } from "../../src/explain/why.ts";
import { Rig, tool } from "../rig.ts";
import {
  type Run,
  ask,
  busy,
  cancel,
  cancelled,
  completed,
  crash,
  execute,
  failure,
  of,
  replied,
  resolve,
  settle,
  started,
  step,
  stepOk,
  submit,
  success,
  want,
} from "./words.ts";
import * as E from "fp-ts/lib/Either.js";

const wait = { kind: "wait", wait: "key" } as const;
const cleanUp = { kind: "cleanup", deadline_ms: 1000 } as const;
const parked = { type: "observe", what: "call_unknown", call_id: "a" } as const;

/** Another owner opens the scope, with this code. */
const deploy = (rig: Rig, versions: Versions): Rig => {
  const { epoch, options, protocol } = rig.state.scope;
  const opened = { epoch: epoch + 1, owner: `d${epoch + 1}`, protocol, options, last_owner: "released" } as const;
  return rig.tell({ type: "scope.opened", ...opened, versions });
};
const published = (rig: Rig, versions: Versions): Rig =>
  rig.tell({ type: "catalog.published", tools: rig.state.catalog.byId.values(), versions });

const resumed = (
  rig: Rig,
  run: Run,
  version: string,
  cause: "other_version" | "owner_lost" | "suspended" = "other_version",
) => rig.tell({ type: "call.resumed", ...of("r:a", run), cause, owner: "d", version });
const diverged = (rig: Rig, run: Run, version?: string): Rig => {
  const found = { position: 2, expected: "step `x`", found: "step `y`" };
  return rig.tell({
    type: "call.diverged",
    ...of("r:a", run),
    ...found,
    ...(version === undefined ? {} : { version }),
  });
};

/** A step that was asked for and has its result. */
const stepped = (rig: Rig, key: string, effect = step(), run: Run = [1, 1]): Rig =>
  stepOk(ask(rig, "r:a", key, effect, run).skip(), "r:a", key, run).skip();

/** A call of the version `v1` that has a step and a wait on record. */
const begun = (more: Partial<Tool> = {}, options: Partial<Options> = {}): Rig => {
  const rig = published(Rig.open([tool("echo", more)], options, 2), { "*": "v1" }).nothingMore();
  submit(rig, "echo").skip();
  stepped(rig, "s");
  return ask(rig, "r:a", "w", wait).nothingMore();
};

/** The call, parked after its owner was replaced by one of version `v2`. */
const parkedBy2 = (more: Partial<Tool> = {}, options: Partial<Options> = {}): Rig => {
  const rig = begun(more, options);
  want(deploy(rig, { "*": "v2" }), execute("r:a", [1, 2]));
  resumed(rig, [1, 2], "v2", "owner_lost").nothingMore();
  return diverged(rig, [1, 2], "v2");
};

const rowOf = (rig: Rig): CallRow | undefined => rig.state.calls.at("r:a");

describe("a call that diverged", () => {
  it("stays parked without a resolver, and observers are told", () => {
    want(parkedBy2(), parked);
  });
  it("asks the resolver as before, also when its scope is opened again", () => {
    const rig = parkedBy2({}, { resolver: true });
    want(rig, { type: "outcome.resolve", cause: "diverged" }, parked);
    expect(outstanding(rig.state)).toMatchObject([{ type: "outcome.resolve", call: "r:a" }]);
    expect(outstanding(parkedBy2().state)).toEqual([]);
  });
  it("keeps what it had settled, and what it waits for may come meanwhile", () => {
    const rig = parkedBy2().skip();
    resolve(rig, "key", 7).nothingMore();
    const row = rowOf(rig);
    expect(row?.phase === "unknown" && [...row.body.settled].map(([key]) => key).toSorted()).toEqual(["s", "w"]);
  });
  it("goes on with another version of its tool, which a roll-back brings", () => {
    const rig = parkedBy2().skip();
    want(deploy(rig, { "*": "v1" }), { ...execute("r:a", [1, 3]), cause: "other_version" });
    resumed(rig, [1, 3], "v1").nothingMore();
    want(settle(rig, "r:a", success(1), [1, 3]), completed("a", success(1)), replied(success(1)));
  });
  it("goes on when the tools are published in another version, or an executor brings one", () => {
    const again = { ...execute("r:a", [1, 3]), cause: "other_version" };
    want(published(parkedBy2().skip(), { "*": "v2", "tool:echo": "3" }), again);
    const brought = parkedBy2().skip();
    want(brought.tell({ type: "executors.available", tools: ["tool:echo"], versions: { "tool:echo": "3" } }), again);
  });
  it("stays where the same version comes again, where none is said, and where nobody there has the tool", () => {
    const rig = parkedBy2().skip();
    deploy(rig, { "*": "v2" }).nothingMore();
    crash(rig).nothingMore();
    deploy(rig, { "*": "v3", "tool:echo": null }).nothingMore();
    expect(rowOf(rig)).toMatchObject({ phase: "unknown", cause: "diverged" });
  });
  it("is parked again where nobody runs its tool after all", () => {
    const rig = parkedBy2().skip();
    want(deploy(rig, { "*": "v3" }), execute("r:a", [1, 3]));
    resumed(rig, [1, 3], "v3").nothingMore();
    want(rig.tell({ type: "call.executor_missing", ...of("r:a", [1, 3]) }), parked);
    rig.tick(3_600_000).nothingMore();
    want(published(rig, { "*": "v3" }), { ...execute("r:a", [1, 4]), cause: "other_version" });
  });
  it("is not begun again by a version that diverged in its attempt, whatever woke it", () => {
    const rig = parkedBy2({}, { resume_pauses_ms: [0, 0, 0, 0] }).skip();
    resumed(deploy(rig, { "*": "v1" }).skip(), [1, 3], "v1").skip();
    deploy(rig, { "*": "v2" }).skip();
    want(resumed(rig, [1, 4], "v2", "owner_lost"), parked);
    resumed(deploy(rig, { "*": "v1" }).skip(), [1, 5], "v1").skip();
    rig.tell({ type: "call.suspended", ...of("r:a", [1, 5]) }).nothingMore();
    deploy(rig, { "*": "v2" }).nothingMore();
    want(resolve(rig, "key", 7), { ...execute("r:a", [1, 6]), cause: "suspended" });
    want(resumed(rig, [1, 6], "v2", "suspended"), parked);
  });
  it("is parked once for each version, and healed by the first that fits", () => {
    const rig = parkedBy2().skip();
    resumed(deploy(rig, { "*": "v3" }).skip(), [1, 3], "v3").skip();
    want(diverged(rig, [1, 3], "v3"), parked);
    for (const version of ["v3", "v2"]) deploy(rig, { "*": version }).nothingMore();
    want(deploy(rig, { "*": "v1" }), execute("r:a", [1, 4]));
  });
  it("may be begun again by every version in its next attempt", () => {
    const policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = parkedBy2({ retry_policy: policy }).skip();
    resumed(deploy(rig, { "*": "v1" }).skip(), [1, 3], "v1").skip();
    want(settle(rig, "r:a", busy(), [1, 3]), execute("r:a", [2, 1]));
    want(deploy(rig, { "*": "v2" }), execute("r:a", [2, 2]));
    resumed(rig, [2, 2], "v2", "owner_lost").nothingMore();
    expect(rowOf(rig)?.phase).toBe("running");
  });
  it("fails when nobody has healed it in time, where its scope says so", () => {
    const rig = parkedBy2({}, { divergence_ms: 60_000 }).skip().tick(59_999).nothingMore();
    const message =
      "the code of `echo` diverged from the record of this call (`v2`), and nothing healed it within 60000 ms (`divergence_ms`)";
    const output = failure("internal", "replay_diverged", message);
    want(rig.tick(1), completed("a", output), replied(output));
  });
  it("ends by a cancel, which names the clean-ups that could not run", () => {
    const rig = ask(begun(), "r:a", "on-cancel", cleanUp).skip();
    resumed(deploy(rig, { "*": "v2" }).skip(), [1, 2], "v2", "owner_lost").skip();
    diverged(rig, [1, 2], "v2").skip();
    const output = cancelled("tool call cancelled; its clean-up could not finish: `on-cancel`");
    want(cancel(rig), completed("a", output), replied(output));
  });
  it("names them too where it diverges while it cleans up", () => {
    const rig = ask(begun(), "r:a", "on-cancel", cleanUp).skip();
    cancel(rig).skip();
    resumed(deploy(rig, { "*": "v2" }).skip(), [1, 2], "v2", "owner_lost").skip();
    const output = cancelled("tool call cancelled; its clean-up could not finish: `on-cancel`");
    want(diverged(rig, [1, 2], "v2"), completed("a", output), replied(output));
  });
  it("says what it waits for", () => {
    const [reason] = why(parkedBy2().state).calls;
    expect(reason).toMatchObject({
      phase: "unknown",
      what: { type: "resolver", cause: "diverged", failed: ["v2"] },
      movedBy: ["outcome.resolved", "catalog.published"],
    });
  });
  it("is the same after a snapshot", () => {
    const { state } = parkedBy2({}, { divergence_ms: 60_000 }).skip();
    const restored = restore(JSON.parse(JSON.stringify(snapshot(state))));
    expect(E.isRight(restored) && snapshot(restored.right)).toEqual(snapshot(state));
    expect(E.isRight(restored) && restored.right.scope.versions).toEqual({ "*": "v2" });
  });
});

const decide = (rig: Rig, resolved: "run_again" | "release" | "give_up"): Rig =>
  rig.tell({ type: "outcome.resolved", call: "r:a", resolved: { type: resolved }, by: "ada" });

/** A process dies that ran the call, and another one of this code opens the scope. */
const crashed = (rig: Rig, versions: Versions): Rig => {
  const { epoch, options, protocol } = rig.state.scope;
  return rig.tell({ type: "scope.opened", epoch: epoch + 1, owner: "d", protocol, options, versions }).skip();
};
const looped = (version: string): Rig => {
  const rig = published(Rig.open([tool("echo")], { max_crashes: 1 }, 2), { "*": version }).nothingMore();
  return crashed(submit(rig, "echo").skip(), { "*": version });
};
const stays = (rig: Rig, version: string): void => {
  deploy(rig, { "*": version }).nothingMore();
  expect(rowOf(rig)).toMatchObject({ phase: "unknown", cause: "crash_loop" });
};

describe("a call that crashed too often", () => {
  const again = { ...execute("r:a", [1, 2]), cause: "other_version" };

  it("goes on with another version, and begins to count anew", () => {
    const rig = looped("v1");
    stays(rig, "v1");
    want(deploy(rig, { "*": "v2" }), again);
    resumed(rig, [1, 2], "v2").nothingMore();
    expect(rowOf(rig)).toMatchObject({ phase: "running", body: { resumes: 0 } });
    crashed(rig, { "*": "v2" });
    for (const version of ["v1", "v2"]) stays(rig, version);
  });
  it("is not begun again by the next start of a process with the same text", () => {
    const rig = looped(unnamedVersion("abc", "one"));
    stays(rig, unnamedVersion("abc", "two"));
    want(deploy(rig, { "*": unnamedVersion("def", "two") }), again);
  });
  it("is another matter where it diverged: each start of a process may differ", () => {
    const rig = published(Rig.open([tool("echo")], {}, 2), { "*": unnamedVersion("abc", "one") }).nothingMore();
    diverged(submit(rig, "echo").skip(), [1, 1]).skip();
    deploy(rig, { "*": unnamedVersion("abc", "one") }).nothingMore();
    want(deploy(rig, { "*": unnamedVersion("abc", "two") }), again);
  });
});

describe("somebody's word on a call that diverged", () => {
  it("runs it again in the same version, where a setting was corrected", () => {
    const rig = parkedBy2().skip();
    want(decide(rig, "run_again"), { ...execute("r:a", [1, 3]), cause: "run_again" });
    resumed(rig, [1, 3], "v2").nothingMore();
    expect(rowOf(rig)?.phase).toBe("running");
  });
  it("gives it up", () => {
    const message = "the outcome of `echo` is unknown: its program no longer asks what its log records";
    const output = failure("external", "tool_outcome_unknown", message);
    want(decide(parkedBy2().skip(), "give_up"), completed("a", output), replied(output));
  });
  it("releases it: from the top, with what may run only once kept", () => {
    const rig = begun();
    stepped(rig, "pay", step("once"));
    ask(rig, "r:a", "ship", step("once")).skip();
    resumed(deploy(rig, { "*": "v2" }).skip(), [1, 2], "v2", "owner_lost").skip();
    diverged(rig, [1, 2], "v2").skip();
    want(decide(rig, "release"), { ...execute("r:a", [2, 1]), cause: "run_again" });
    resumed(rig, [2, 1], "v2").nothingMore();
    const row = rowOf(rig);
    expect(row?.phase === "running" && [...row.body.settled].map(([key]) => key)).toEqual(["pay"]);
    expect(row?.phase === "running" && row.body.open.map(({ key }) => key)).toEqual(["ship"]);
    expect(rig.state.waits.at("key")?.waiters).toEqual([]);
    want(rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "pay" }), { type: "step.answer", key: "pay" });
    ask(rig, "r:a", "s", step(), [2, 1]).skip();
  });
  it("releases it with a new approval, where it needs one", () => {
    const rig = published(Rig.open([tool("echo", { policy: "requires_approval" })], {}, 2), { "*": "v1" }).skip();
    submit(rig, "echo").skip();
    const preparation = { type: "prepared", tool_id: "tool:echo", args: null, args_hash: "h1", payload: null } as const;
    rig.tell({ type: "call.prepared", call: "r:a", preparation }).skip();
    const approve = (): Rig =>
      rig.tell({ type: "approval.decided", call: "r:a", decision: { type: "approve" }, args_hash: "h1", by: "ada" });
    approve().skip();
    diverged(rig, [1, 1], "v1").skip();
    want(decide(rig, "release"), { type: "observe", what: "call_parked" });
    want(approve(), execute("r:a", [2, 2]));
  });
});

describe("a tool that releases what diverged", () => {
  it("begins from the top, and is parked where it diverges from what it has just recorded", () => {
    const rig = begun({ divergence: "release" });
    resumed(deploy(rig, { "*": "v2" }).skip(), [1, 2], "v2", "owner_lost").skip();
    want(diverged(rig, [1, 2], "v2"), { ...execute("r:a", [2, 1]), cause: "run_again" });
    resumed(rig, [2, 1], "v2").skip();
    stepped(rig, "s", step(), [2, 1]);
    want(diverged(rig, [2, 1], "v2"), parked);
  });
});

describe("under protocol 1", () => {
  it("a call that diverged ends where nobody resolves it, and versions are refused", () => {
    const rig = submit(Rig.open([tool("echo")], {}, 1), "echo");
    want(rig, started("a"), execute("r:a"));
    rig.refuses(
      {
        type: "scope.opened",
        epoch: 2,
        owner: "d2",
        protocol: 1,
        options: rig.state.scope.options,
        versions: { "*": "v1" },
      },
      "needs_protocol_2",
    );
    const message = "the outcome of `echo` is unknown: its program no longer asks what its log records";
    const output = failure("external", "tool_outcome_unknown", message);
    want(diverged(rig, [1, 1]), completed("a", output), replied(output));
  });
  it("nobody may release a call", () => {
    const rig = submit(Rig.open([tool("echo")], { resolver: true }, 1), "echo").skip();
    diverged(rig, [1, 1]).skip();
    rig.refuses({ type: "outcome.resolved", call: "r:a", resolved: { type: "release" } }, "needs_protocol_2");
  });
  it("a call that was left to a person is tried with the next version once it is upgraded", () => {
    const rig = submit(Rig.open([tool("echo")], { resolver: true }, 1), "echo").skip();
    diverged(rig, [1, 1]).skip();
    rig.upgrade(2).skip();
    want(deploy(rig, { "*": "v2" }), { ...execute("r:a", [1, 2]), cause: "other_version" });
  });
});

describe("what a body was told by `ctx.patched`", () => {
  const patched = { faster: true };

  it("is kept for its life, and the first answer stays", () => {
    const rig = submit(Rig.open([tool("echo")], {}, 2), "echo").skip();
    rig.tell({ type: "effect.requested", ...of("r:a"), key: "s", hash: "h", effect: step(), patched }).skip();
    stepOk(rig, "r:a", "s").skip();
    rig.tell({
      type: "effect.requested",
      ...of("r:a"),
      key: "t",
      hash: "h",
      effect: step(),
      patched: { faster: false, b: false },
    });
    const row = rowOf(rig.skip());
    expect(row?.phase === "running" && row.body.patches).toEqual({ faster: true, b: false });
    rig.tell({ type: "call.continued", ...of("r:a"), args: null, left: ["t"] }).skip();
    const next = rowOf(rig);
    expect(next?.phase === "resuming" && next.body.patches).toEqual({});
  });
  it("stands in a reuse, and in the end of an attempt", () => {
    const policy = { type: "safe", max_attempts: 3, base_delay_ms: 0, max_delay_ms: 0 } as const;
    const rig = submit(Rig.open([tool("echo", { retry_policy: policy })], {}, 2), "echo").skip();
    stepped(rig, "s");
    const result = { type: "done", output: busy() } as const;
    rig.tell({ type: "call.settled", ...of("r:a"), result, duration_ms: 1, patched: { one: true } }).skip();
    rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "s", patched: { two: false } }).skip();
    const row = rowOf(rig);
    expect(row?.phase === "running" && row.body.patches).toEqual({ one: true, two: false });
  });
  it("is refused under protocol 1", () => {
    const rig = submit(Rig.open([tool("echo")], {}, 1), "echo").skip();
    rig.refuses(
      { type: "effect.requested", ...of("r:a"), key: "s", hash: "h", effect: step(), patched },
      "needs_protocol_2",
    );
  });
});
