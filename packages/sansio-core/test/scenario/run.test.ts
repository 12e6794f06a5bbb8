import { describe, expect, it } from "vitest";
import { nextDeadline } from "../../src/machine.ts";
import { Rig, protocols, tool } from "../rig.ts";
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
  stepOk,
  submit,
  success,
  want,
} from "./words.ts";

const wait = { kind: "wait", wait: "k" } as const;

describe("a body that only waits", () => {
  it("is dropped, and starts again when something settles: a new run, no resume", () => {
    const rig = running();
    ask(rig, "r:a", "w", wait).skip();
    ask(rig, "r:a", "s", { kind: "sleep", ms: 5000 }).skip();
    rig.tell({ type: "call.suspended", ...of("r:a") }).nothingMore();
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 5000);
    want(resolve(rig, "k", 1), { ...execute("r:a", [1, 2]), cause: "suspended" });
    resume(rig, "r:a", [1, 2], "suspended").nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ body: { resumes: 0, open: [{ key: "s" }] } });
  });
  it("is woken by time as well", () => {
    const rig = ask(running(), "r:a", "s", { kind: "sleep", ms: 5000 }).skip();
    rig.tell({ type: "call.suspended", ...of("r:a") }).nothingMore();
    want(rig.tick(5000), { ...execute("r:a", [1, 2]), cause: "suspended" });
  });
  it("is not lost with its owner: nobody runs it", () => {
    const rig = ask(running(), "r:a", "w", wait).skip();
    rig.tell({ type: "call.suspended", ...of("r:a") }).nothingMore();
    crash(rig).nothingMore();
    want(resolve(rig, "k", 1), execute("r:a", [1, 2]));
  });
  it("keeps running while a step of its is open, while nothing is, and where it is bound to its owner", () => {
    const suspended = { type: "call.suspended", ...of("r:a") } as const;
    ask(running(), "r:a", "s", step()).skip().refuses(suspended, "wrong_phase");
    running().refuses(suspended, "wrong_phase");
    ask(running({ recovery: "owner_bound" }), "r:a", "w", wait)
      .skip()
      .refuses(suspended, "wrong_phase")
      .nothingMore();
  });
});

describe("a body that has ended and is to run again", () => {
  const parked = { type: "call.suspended", ...of("r:a"), parked: "w" } as const;

  it("starts when its wait is over, also where it is bound to its owner; what else it asked for is left", () => {
    const rig = running({ recovery: "owner_bound", durable: false });
    ask(rig, "r:a", "w", wait).skip();
    ask(rig, "r:a", "s", step()).skip();
    rig.tell(parked).nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "suspended", body: { open: [{ key: "w" }] } });
    crash(rig).nothingMore();
    want(resolve(rig, "k", 1), { ...execute("r:a", [1, 2]), cause: "suspended" });
  });
  it("names a wait that is open", () => {
    ask(running(), "r:a", "s", step())
      .skip()
      .refuses({ ...parked, parked: "s" }, "not_a_waiter");
    running().refuses(parked, "not_a_waiter").nothingMore();
  });
  it("is over where it was told to stop", () => {
    const rig = ask(running(), "r:a", "w", wait).skip();
    rig.tell({ type: "call.cancelled", call: "r:a" }).skip();
    rig.tell(parked);
    rig.wants({ type: "observe", what: "call_completed" }).skip();
  });
});

describe.each(protocols)("a body that begins anew, under protocol %i", (protocol) => {
  it("keeps its call, and nothing that it recorded", () => {
    const rig = running({}, {}, protocol);
    stepOk(ask(rig, "r:a", "s", step()).skip(), "r:a", "s").skip();
    ask(rig, "r:a", "w", wait).skip();
    rig.tell({ type: "call.continued", ...of("r:a"), args: { page: 2 } });
    want(rig, { ...execute("r:a", [1, 2]), cause: "continued", args: { page: 2 } });
    resume(rig, "r:a", [1, 2], "continued").nothingMore();
    want(ask(rig, "r:a", "s", step(), [1, 2]), { type: "step.run", key: "s", run: 2 });
    resolve(rig, "k", 1).nothingMore();
    want(stepOk(rig, "r:a", "s", [1, 2]), { type: "step.answer", key: "s", run: 2 });
    want(settle(rig, "r:a", success(1), [1, 2]), completed("a"), replied(success(1)));
    expect(rig.state.requests.at("r")).toMatchObject({ replies: [{ args: { page: 2 } }] });
  });
});

describe("a body that asks for something else than its log records, under protocol 1", () => {
  const astray = { type: "call.diverged", ...of("r:a"), position: 3, expected: "step `x`", found: "step `y`" } as const;

  it("is parked: the resolver decides", () => {
    const rig = submit(Rig.open([tool("echo")], { resolver: true }, 1), "echo").skip();
    want(rig.tell(astray), { type: "outcome.resolve", cause: "diverged" });
  });
  it("is released by its tool's policy: it runs with nothing recorded", () => {
    const rig = ask(running({ divergence: "release" }, {}, 1), "r:a", "s", step()).skip();
    want(rig.tell(astray), execute("r:a", [1, 2]));
    resume(rig, "r:a", [1, 2], "run_again").nothingMore();
    want(ask(rig, "r:a", "s", step(), [1, 2]), { type: "step.run" });
  });
  it("fails by its tool's policy, and says where and how", () => {
    const message = "replay diverged at request 3: expected step `x`, found step `y`";
    const output = failure("internal", "replay_diverged", message);
    for (const protocol of protocols)
      want(running({ divergence: "fail" }, {}, protocol).tell(astray), completed("a", output), replied(output));
  });
});

describe("a call whose tool has no executor", () => {
  const missing = { type: "call.executor_missing", ...of("r:a") } as const;

  it("waits for one, and starts again when it is there", () => {
    const rig = running().tell(missing).nothingMore();
    rig.tell({ type: "executors.available", tools: ["tool:other"] }).nothingMore();
    want(rig.tell({ type: "executors.available", tools: ["tool:echo"] }), {
      ...execute("r:a", [1, 2]),
      cause: "executor_back",
    });
  });
  it("waits fifteen minutes at most", () => {
    const rig = running().tell(missing).nothingMore();
    rig.tick(899_999).nothingMore();
    const output = failure("unavailable", "tool_unavailable", "Tool is unavailable in this session");
    want(rig.tick(1), completed("a", output), replied(output));
  });
});
