import { describe, expect, it } from "vitest";
import { nextDeadline } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import { ask, completed, execute, submit, want } from "./words.ts";

const sleeping = (options: { readonly expire_at_once?: number }, ...ms: readonly number[]): Rig => {
  const rig = submit(Rig.open([tool("echo")], options), "echo").skip();
  for (const [i, one] of ms.entries()) ask(rig, "r:a", `s${i}`, { kind: "sleep", ms: one }).skip();
  return rig;
};
const answer = (key: string) => ({ type: "step.answer", key }) as const;

describe("time", () => {
  it("passes before an event is looked at, whatever the event", () => {
    const rig = sleeping({}, 100).after(100);
    want(rig.tell({ type: "catalog.overridden", names: [], availability: null }), answer("s0"));
  });
  it("passes at most so many deadlines in one step; the rest is due at once, and passes with the next", () => {
    const rig = sleeping({ expire_at_once: 2 }, 30, 20, 10);
    want(rig.tick(1000), answer("s2"), answer("s1"));
    expect(nextDeadline(rig.state)?.at).toBeLessThan(rig.at);
    want(rig.tick(0), answer("s0"));
    expect(nextDeadline(rig.state)).toBeUndefined();
  });
  it("has one next deadline, the earliest of all", () => {
    const rig = sleeping({}, 300, 100, 200);
    const from = rig.at;
    expect(nextDeadline(rig.state)).toMatchObject({ at: from + 100, key: "r:a" });
    rig.tick(100).skip();
    expect(nextDeadline(rig.state)?.at).toBe(from + 200);
    rig.nothingMore();
  });
  it("does not pass with an event that is refused", () => {
    const rig = sleeping({}, 100).after(100).refuses({ type: "reply.acked", request: "r" }, "no_reply_waits");
    want(rig.tick(0), answer("s0"));
  });
  it("passes the grace of a call and what its body waits for in their order", () => {
    const rig = sleeping({}, 10, 100);
    rig.tell({ type: "request.cancelled", request: "r" }).skip();
    want(rig.tick(1000), answer("s0"), completed("a"), { type: "reply" });
  });
  it("has no end: the longest sleep is longer than anyone waits", () => {
    const rig = sleeping({}, Number.MAX_SAFE_INTEGER);
    expect(nextDeadline(rig.state)?.at).toBe(Number.MAX_SAFE_INTEGER);
    rig.tick(10 ** 12).nothingMore();
    want(submit(Rig.open([tool("echo")]), "echo"), { type: "observe" }, execute("r:a"));
  });
});
