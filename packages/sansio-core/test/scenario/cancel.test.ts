import { describe, expect, it } from "vitest";
import { nextDeadline } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  cancel,
  cancelled,
  completed,
  crash,
  execute,
  gone,
  of,
  pend,
  replied,
  settle,
  started,
  step,
  stop,
  submit,
  success,
  want,
} from "./words.ts";

const echo = tool("echo");
const serial = tool("serial", { scheduling: "serial" });

describe("the cancel of a request", () => {
  it("tells running calls, which may finish while the grace lasts", () => {
    const rig = submit(Rig.open([echo]), "echo", "echo").skip();
    want(cancel(rig), stop("r:a"), stop("r:b"));
    want(settle(rig.after(30), "r:a", success("made it")), completed("a", success("made it")));
    rig.tick(19).nothingMore();
    want(rig.tick(1), completed("b", gone), replied(success("made it"), gone));
  });
  it("never starts a call that has not started; it is observed as started and completed", () => {
    const rig = submit(Rig.open([echo, serial]), "serial", "echo").skip();
    want(cancel(rig), started("a"), completed("a", gone), stop("r:b"));
    want(settle(rig, "r:b", success(1)), completed("b", success(1)), replied(gone, success(1)));
  });
  it("ends what is still prepared, and what its preparation was waiting for comes too late", () => {
    const rig = submit(Rig.open([tool("echo", { prepares: true })]), "echo", "echo").skip();
    want(cancel(rig), started("a"), completed("a", gone), started("b"), completed("b", gone), replied(gone, gone));
    rig.refuses(
      { type: "call.prepared", call: "r:a", preparation: { type: "finished", output: success(1) } },
      "call_unknown",
    );
  });
  it("counts its grace once, however often it comes", () => {
    const rig = submit(Rig.open([echo]), "echo").skip();
    want(cancel(rig), stop("r:a"));
    cancel(rig.after(30)).nothingMore();
    want(rig.tick(20), completed("a", gone), replied(gone));
  });
  it("has a grace that is an option", () => {
    const rig = submit(Rig.open([echo], { grace_ms: 500 }), "echo").skip();
    cancel(rig).skip();
    expect(nextDeadline(rig.state)?.at).toBe(rig.at + 500);
    rig.nothingMore();
  });
  it("ends a pending call, resolves its key, and asks the host to end the outside work", () => {
    const rig = pend(submit(Rig.open([echo]), "echo").skip(), "r:a", "k");
    const output = cancelled("pending tool completion cancelled");
    want(cancel(rig), { type: "external.cancel", call: "r:a", key: "k" }, completed("a", output), replied(output));
  });
  it("lets the outside be where the tool said so", () => {
    const rig = pend(submit(Rig.open([echo]), "echo").skip(), "r:a", "k", { on_cancel: "ignore" });
    want(cancel(rig), completed("a"), { type: "reply" });
  });
});

describe("cancel against finish", () => {
  it("has one winner: who stands first in the log", () => {
    const rig = submit(Rig.open([echo]), "echo", "echo").skip();
    settle(rig, "r:a", success(1)).skip();
    rig.refuses({ type: "call.cancelled", call: "r:a" }, "call_ended");
    settle(rig, "r:b", success(1)).skip();
    rig.refuses({ type: "request.cancelled", request: "r" }, "call_ended");
    rig.refuses({ type: "request.cancelled", request: "x" }, "request_unknown");
    rig.nothingMore();
  });
  it("is decided at the deadline itself: time passes first", () => {
    const rig = submit(Rig.open([echo]), "echo").skip();
    cancel(rig).skip();
    const result = { type: "done", output: success(1) } as const;
    rig.after(50).refuses({ type: "call.settled", ...of("r:a"), result, duration_ms: 1 }, "call_unknown");
    want(rig.tell({ type: "clock.ticked" }), completed("a", gone), replied(gone));
  });
  it("leaves an outcome that waits for its hooks as it is", () => {
    const rig = submit(Rig.open([echo], { after_hook: true }), "echo").skip();
    settle(rig, "r:a", success(1)).skip();
    cancel(rig).nothingMore();
    rig.tell({ type: "hook.ran", call: "r:a", phase: "after", outcome: { status: "ok", directives: [] } });
    want(rig, completed("a", success(1)), replied(success(1)));
  });
});

describe("a settlement after the grace", () => {
  it("is shown to observers, and changes nothing", () => {
    const rig = submit(Rig.open([echo]), "echo", "echo").skip();
    cancel(rig).skip();
    settle(rig, "r:b", success(1)).skip();
    rig.tell({ type: "call.cancelled", call: "r:a" }).nothingMore();
    rig.refuses({ type: "call.settled_late", ...of("r:a"), output: success(1), duration_ms: 1 }, "call_is_live");
    want(rig.tick(50), completed("a", gone), replied(gone, success(1)));
    const before = rig.state.requests.at("r");
    rig.tell({ type: "call.settled_late", ...of("r:a"), output: success("late"), duration_ms: 99 }).skip();
    expect(rig.state.requests.at("r")).toEqual(before);
  });
  it("is told while the batch still runs", () => {
    const rig = submit(Rig.open([echo]), "echo", "echo").skip();
    rig.tell({ type: "call.cancelled", call: "r:a" }).skip();
    want(rig.tick(50), completed("a", gone));
    rig.tell({ type: "call.settled_late", ...of("r:a"), output: success("late"), duration_ms: 99 });
    want(rig, { type: "observe", what: "call_settled_late", call_id: "a", output: success("late"), duration_ms: 99 });
  });
});

const told = (more = {}): Rig =>
  cancel(submit(Rig.open([tool("echo", more)], { resolver: true }), "echo").skip()).skip();

describe("a call that was told to stop", () => {
  it("is taken at its word when its owner is lost", () => {
    want(crash(told()), completed("a", gone), replied(gone));
    want(crash(told({ recovery: "owner_bound" })), completed("a", gone), replied(gone));
  });
  it("starts no other run", () => {
    want(told().tell({ type: "call.continued", ...of("r:a"), args: {} }), completed("a", gone), replied(gone));
    want(told().tell({ type: "call.executor_missing", ...of("r:a") }), completed("a", gone), replied(gone));
    const astray = { type: "call.diverged", ...of("r:a"), position: 1, expected: "x", found: "y" } as const;
    want(told().tell(astray), completed("a", gone), replied(gone));
  });
  it("is not suspended", () => {
    const rig = submit(Rig.open([echo]), "echo").skip();
    ask(rig, "r:a", "s", { kind: "sleep", ms: 1000 }).skip();
    cancel(rig).skip();
    rig.refuses({ type: "call.suspended", ...of("r:a") }, "wrong_phase").nothingMore();
  });
  it("does not wait for the outside any more, unless its word is there already", () => {
    const output = cancelled("pending tool completion cancelled");
    const asked = { type: "external.cancel", key: "k" } as const;
    want(pend(told(), "r:a", "k"), asked, completed("a", output), replied(output));
    const rig = told().tell({ type: "wait.resolved", key: "k", resolution: { status: "ok", payload: 1 } });
    want(pend(rig, "r:a", "k"), completed("a", success(1)), replied(success(1)));
  });
  it("may still ask for steps while its grace lasts", () => {
    const rig = told();
    want(ask(rig, "r:a", "clean-up", step()), { type: "step.run", key: "clean-up" });
    want(rig.tick(50), completed("a", gone), replied(gone));
  });
});

describe("the cancel of one call", () => {
  it("leaves the others of its batch alone", () => {
    const rig = submit(Rig.open([echo, serial]), "echo", "echo", "serial").skip();
    want(rig.tell({ type: "call.cancelled", call: "r:a" }), stop("r:a"));
    want(rig.tick(50), completed("a", gone));
    want(settle(rig, "r:b", success(1)), completed("b"), started("c"), execute("r:c"));
  });
  it("that waits for its turn ends it, and its turn goes to the next", () => {
    const rig = submit(Rig.open([serial]), "serial", "serial", "serial").skip();
    want(rig.tell({ type: "call.cancelled", call: "r:b" }), started("b"), completed("b", gone));
    want(settle(rig, "r:a", success(1)), completed("a"), started("c"), execute("r:c"));
  });
});
