import { describe, expect, it } from "vitest";
import type { ChildCall } from "../../src/call/effect/effect.ts";
import { outstanding } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  completed,
  crash,
  execute,
  gone,
  leave,
  of,
  pend,
  replied,
  resume,
  settle,
  started,
  stop,
  submit,
  success,
  want,
} from "./words.ts";

const tools = [tool("parent"), tool("child"), tool("serial", { scheduling: "serial" })];
const child = (id: string, name = "child"): ChildCall => ({ id, tool: `tool:${name}`, args: { of: id } });

/** A running body that has made the batch `b` of these calls. */
const nested = (...calls: readonly ChildCall[]): Rig =>
  ask(submit(Rig.open(tools), "parent").skip(), "r:a", "b", { kind: "batch", calls });
const ref = (id: string): string => `r:a/b/${id}`;

const recorded = (rig: Rig): Rig => {
  const command = outstanding(rig.state).find(({ type }) => type === "replies.record");
  if (command?.type !== "replies.record") throw new Error("no replies to record");
  const { key, replies, triggers } = command;
  return rig.tell({ type: "replies.recorded", call: command.call, key, replies, triggers });
};

const made = (key: string, ...ids: readonly string[]) =>
  ({
    type: "effect.requested",
    ...of("r:a"),
    key,
    hash: "h",
    effect: { kind: "batch", calls: ids.map((id) => child(id)) },
  }) as const;

describe("a batch that a body makes", () => {
  it("runs as any other, and its replies are recorded as the value of its effect", () => {
    const rig = nested(child("x", "serial"), child("y"));
    want(rig, started("y"), execute(ref("y")));
    want(settle(rig, ref("y"), success("y")), completed("y"), started("x"), execute(ref("x")));
    settle(rig, ref("x"), success("x"));
    const replies = [
      { call_id: "x", output: success("x") },
      { call_id: "y", output: success("y") },
    ] as never;
    want(rig, completed("x"), { type: "replies.record", call: "r:a", key: "b", replies });
    want(recorded(rig), { type: "step.answer", key: "b", seq: rig.state.seq, value: rig.state.seq });
    expect(rig.state.calls.size + rig.state.batches.size).toBe(2);
    want(settle(rig, "r:a", success("all")), completed("a"), replied(success("all")));
  });
  it("names its calls below their parent, and shows the plain id", () => {
    const rig = nested(child("x"));
    want(rig, { ...started("x"), call: ref("x") }, { ...execute(ref("x")), args: { of: "x" } });
  });
  it("is asked for by tool id, and says so when there is none", () => {
    const rig = nested(child("x", "other"));
    const message = "Tool id `tool:other` is unavailable in this session";
    const payload = { class: "unavailable", code: "tool_unavailable", message };
    rig.wants(started("x") as never).wants({ type: "observe", output: { outcome: { payload } } as never });
    want(rig, { type: "replies.record" });
  });
  it("of no calls has its replies at once", () => {
    want(nested(), { type: "replies.record", key: "b", replies: [] });
  });
  it("is refused when ids are empty, repeated, or would name what is there already", () => {
    const rig = submit(Rig.open(tools), { tool: "parent" }, { tool: "parent", id: "a/b/x" }).skip();
    rig.refuses(made("b", "x", "y"), "call_id_conflict");
    rig.refuses(made("c", "x", "x"), "call_id_conflict");
    rig.refuses(made("c", ""), "call_id_conflict");
    want(rig.tell(made("c", "x")), started("x"), execute("r:a/c/x"));
  });
  it("has its replies recorded once, and not before it has ended", () => {
    const rig = nested(child("x")).skip();
    const early = { type: "replies.recorded", call: "r:a", key: "b", replies: [], triggers: [] } as const;
    rig.refuses(early, "wrong_phase");
    settle(rig, ref("x"), success(1)).skip();
    rig.refuses(early, "replies_mismatch");
    recorded(rig).skip();
    rig.refuses(early, "effect_settled").nothingMore();
  });
});

describe("what a body began", () => {
  it("ends with it: told, observed, and gone", () => {
    const rig = nested(child("x"), child("y", "serial")).skip();
    const ends = [stop(ref("x")), completed("x", gone), started("y"), completed("y", gone)];
    want(leave(rig, "r:a", success(1), "b"), completed("a"), ...ends, replied(success(1)));
    rig.refuses(
      { type: "call.settled", ...of(ref("x")), result: { type: "done", output: success(1) }, duration_ms: 1 },
      "call_unknown",
    );
  });
  it("ends with it at any depth, and the outside is told", () => {
    const rig = nested(child("x")).skip();
    ask(rig, ref("x"), "c", { kind: "batch", calls: [child("z")] }).skip();
    pend(rig, `${ref("x")}/c/z`, "k").skip();
    const inner = [{ type: "external.cancel", key: "k" } as const, completed("z")];
    leave(rig, "r:a", success(1), "b");
    want(rig, completed("a"), stop(ref("x")), completed("x"), ...inner, replied(success(1)));
    expect(rig.state.calls.size).toBe(0);
  });
  it("is cancelled with the request, and its parent hears how it ended while its grace lasts", () => {
    const rig = nested(child("x")).skip();
    want(rig.tell({ type: "request.cancelled", request: "r" }), stop("r:a"), stop(ref("x")));
    settle(rig, ref("x"), success("in time"));
    want(rig, completed("x"), { type: "replies.record", replies: [{ output: success("in time") }] as never });
    want(recorded(rig), { type: "step.answer", key: "b" });
    want(settle(rig, "r:a", success(1)), completed("a"), replied(success(1)));
  });
  it("goes on while its parent starts again", () => {
    const rig = nested(child("x")).skip();
    want(crash(rig), execute("r:a", [1, 2]), execute(ref("x"), [1, 2]));
    resume(rig, ref("x"), [1, 2]).nothingMore();
    settle(rig, ref("x"), success(1), [1, 2]).skip();
    recorded(rig).nothingMore();
    resume(rig, "r:a", [1, 2]).nothingMore();
    expect(rig.state.calls.size).toBe(1);
  });
  it("ends with a parent whose owner is lost, in the same event as itself", () => {
    const bound = [tool("parent", { recovery: "owner_bound" }), tool("child", { recovery: "owner_bound" })];
    const rig = submit(Rig.open(bound), "parent").skip();
    ask(rig, "r:a", "b", { kind: "batch", calls: [child("x")] }).skip();
    crash(rig).skip();
    expect(rig.state.calls.size + rig.state.batches.size).toBe(0);
    expect(outstanding(rig.state)).toMatchObject([{ type: "reply", replies: [{ call_id: "a" }] }]);
    rig.nothingMore();
  });
  it("ends with a resuming parent whose request is cancelled", () => {
    const rig = nested(child("x")).skip();
    crash(rig).skip();
    rig.tell({ type: "request.cancelled", request: "r" });
    want(rig, completed("a", gone), completed("x", gone), replied(gone));
  });
});
