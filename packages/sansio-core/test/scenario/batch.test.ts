import { describe, it } from "vitest";
import { Rig, tool } from "../rig.ts";
import {
  busy,
  completed,
  crash,
  execute,
  pend,
  replied,
  resolve,
  settle,
  started,
  submit,
  success,
  want,
} from "./words.ts";

const serial = tool("serial", { scheduling: "serial" });
const parallel = tool("parallel");
const launch = (call: string) => [started(call.slice(2)), execute(call)];
const one = success("one");

describe("a batch", () => {
  it("starts all its parallel calls at once, and its serial ones afterwards, one at a time, in their order", () => {
    const rig = submit(Rig.open([serial, parallel]), "serial", "parallel", "serial", "parallel");
    want(rig, ...launch("r:b"), ...launch("r:d"));
    want(settle(rig, "r:d", one), completed("d", one));
    want(settle(rig, "r:b", one), completed("b", one), ...launch("r:a"));
    want(settle(rig, "r:a", one), completed("a", one), ...launch("r:c"));
    want(settle(rig, "r:c", one), completed("c", one), replied(one, one, one, one));
  });
  it("replies in the order of its calls, whatever ended first", () => {
    const rig = submit(Rig.open([parallel]), "parallel", "parallel", "parallel").skip();
    settle(rig, "r:c", success("c")).skip();
    settle(rig, "r:a", success("a")).skip();
    want(settle(rig, "r:b", success("b")), completed("b"), replied(success("a"), success("b"), success("c")));
  });
  it("goes on when one of its calls fails", () => {
    const rig = submit(Rig.open([parallel]), "parallel", "parallel").skip();
    want(settle(rig, "r:a", busy()), completed("a", busy()));
    want(settle(rig, "r:b", one), completed("b", one), replied(busy(), one));
  });
  it("of no calls has its reply at once", () => {
    want(submit(Rig.open([])), replied());
  });
  it("treats a tool that nobody knows as parallel", () => {
    const rig = submit(Rig.open([serial]), "serial", "unknown");
    want(rig, started("b"), completed("b"), ...launch("r:a"));
  });
  it("starts serial calls while a parallel one is pending: it counts as settled", () => {
    const rig = submit(Rig.open([serial, parallel]), "serial", "parallel").skip();
    want(pend(rig, "r:b", "k"), ...launch("r:a"));
    want(settle(rig, "r:a", one), completed("a", one));
    want(resolve(rig, "k", "late"), completed("b", success("late")), replied(one, success("late")));
  });
  it("does not start serial calls while a parallel one pauses before its next attempt", () => {
    const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 100, max_delay_ms: 0 } as const;
    const rig = submit(Rig.open([serial, tool("parallel", { retry_policy })]), "serial", "parallel").skip();
    settle(rig, "r:b", busy()).nothingMore();
    want(rig.tick(100), execute("r:b", [2, 1]));
    want(settle(rig, "r:b", one, [2, 1]), completed("b", one), ...launch("r:a"));
  });
});

describe("the concurrency of a batch", () => {
  it("bounds the parallel calls that run at once, and fills slots in the order of the calls", () => {
    const rig = submit(Rig.open([parallel], { concurrency: 2 }), ...Array.from({ length: 4 }, () => "parallel"));
    want(rig, ...launch("r:a"), ...launch("r:b"));
    want(settle(rig, "r:b", one), completed("b", one), ...launch("r:c"));
    want(settle(rig, "r:a", one), completed("a", one), ...launch("r:d"));
  });
  it("counts a pending call out", () => {
    const rig = submit(Rig.open([parallel], { concurrency: 1 }), "parallel", "parallel");
    want(rig, ...launch("r:a"));
    want(pend(rig, "r:a", "k"), ...launch("r:b"));
  });
  it("holds when several slots come free in one event", () => {
    const bound = tool("bound", { recovery: "owner_bound", durable: false });
    const rig = submit(
      Rig.open([bound], { concurrency: 2, resolver: true }),
      ...Array.from({ length: 6 }, () => "bound"),
    );
    rig.skip();
    const asked = ["r:a", "r:b"].map((call) => ({ type: "outcome.resolve", call }) as const);
    want(crash(rig), ...asked, ...launch("r:c"), ...launch("r:d"));
  });
  it("is never nothing: such an option is refused", () => {
    const rig = Rig.open([parallel]);
    const options = rig.state.scope.options;
    rig.refuses({ type: "scope.configured", options: { ...options, concurrency: 0 } }, "invalid_option");
    rig.refuses({ type: "scope.configured", options: { ...options, expire_at_once: 0 } }, "invalid_option");
    rig.nothingMore();
  });
});
