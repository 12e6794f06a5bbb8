/** Calls of a tool with a queue: each has its place on record before its body begins. */
import { describe, expect, it } from "vitest";
import { checkAll } from "../../src/check.ts";
import { why } from "../../src/explain/why.ts";
import { scopeStatus } from "../../src/explain/status.ts";
import { waitsWords } from "../../src/explain/words.ts";
import { outstanding } from "../../src/machine.ts";
import { toolsUnder } from "../../src/catalog/model.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { Rig, tool } from "../rig.ts";
import { busy, cancel, completed, execute, gone, replied, settle, started, submit, success, want } from "./words.ts";

const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 100, max_delay_ms: 0 } as const;
const queued = tool("echo", { queue: "gpu", retry_policy });
const take = (call = "r:a", attempt = 1) => ({ type: "place.take", call, attempt }) as const;
const granted = (call = "r:a", attempt = 1) => ({ type: "place.granted", call, attempt }) as const;
const open = (...tools: readonly string[]): Rig => submit(Rig.open([queued, tool("plain")]), ...tools);

describe("a call of a tool with a queue", () => {
  it("begins once it has a place", () => {
    const rig = want(open("echo"), take());
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "queued", since: rig.at });
    want(rig.tell(granted()), started("a"), execute("r:a"));
    want(settle(rig, "r:a", success(1)), completed("a"), replied(success(1)));
  });
  it("asks again after a loss, and has not crashed", () => {
    const rig = want(open("echo"), take());
    rig.tell({ type: "scope.opened", epoch: 2, owner: "d2", protocol: 2, options: rig.state.scope.options });
    rig.nothingMore();
    expect(outstanding(rig.state)).toEqual([take()]);
    want(rig.tell(granted()), started("a"), execute("r:a"));
    expect(rig.state.calls.at("r:a")).toMatchObject({ body: { resumes: 0, run: 1 } });
  });
  it("waits for a place before the next attempt, once its pause is over", () => {
    const rig = want(open("echo"), take());
    want(rig.tell(granted()), started("a"), execute("r:a"));
    settle(rig, "r:a", busy()).nothingMore();
    rig.refuses(granted("r:a", 2), "wrong_phase");
    want(rig.tick(100), take("r:a", 2));
    expect(checkAll(rig.state)).toBeUndefined();
    expect(outstanding(rig.state)).toEqual([take("r:a", 2)]);
    rig.refuses(granted("r:a", 1), "stale_run");
    want(rig.tell(granted("r:a", 2)), { ...execute("r:a"), attempt: 2 });
  });
  it("keeps its slot: a serial call behind it waits", () => {
    const serial = { scheduling: "serial" } as const;
    const rig = submit(Rig.open([tool("echo", { queue: "gpu", ...serial }), tool("next", serial)]), "echo", "next");
    want(rig, take());
    want(rig.tell(granted()), started("a"), execute("r:a"));
    want(settle(rig, "r:a", success(1)), completed("a"), started("b"), execute("r:b"));
  });
  it("is cancelled while it waits, and never begins", () => {
    const rig = want(open("echo"), take());
    want(cancel(rig), started("a"), completed("a", gone), replied(gone));
    rig.refuses(granted(), "call_unknown");
  });
  it("waits for its tool where that has gone when its place comes", () => {
    const rig = want(open("echo"), take());
    rig.tell({ type: "catalog.published", tools: [tool("plain")] }).nothingMore();
    rig.tell(granted()).nothingMore();
    expect(rig.state.calls.at("r:a")).toMatchObject({ phase: "no_tool", waits: "launch" });
    rig.tell({ type: "catalog.published", tools: [queued] }).nothingMore();
    want(rig.tell({ type: "executors.available", tools: ["tool:echo"] }), take());
  });
  it("says what it waits for", () => {
    const rig = want(open("echo"), take());
    const [reason] = why(rig.state).calls;
    expect(reason).toMatchObject({ what: { type: "queue", queue: "gpu" }, movedBy: ["place.granted"] });
    expect(reason && waitsWords(reason.what)).toBe("a place in queue gpu");
    expect(scopeStatus(rig.state)).toMatchObject({ state: "waiting", waitsFor: "executor" });
  });
  it("is the same from a snapshot, with the priority of its request", () => {
    const rig = Rig.open([queued]);
    const calls = [{ id: "a", tool: "echo", args: 1 }];
    want(rig.tell({ type: "request.submitted", request: "r", hash: "h", priority: 7, calls }), take());
    const back = restore(snapshot(rig.state));
    expect(back).toMatchObject({ right: { seq: rig.state.seq } });
    expect(rig.state.requests.at("r")).toMatchObject({ priority: 7 });
    expect("right" in back && back.right.requests.at("r")).toEqual(rig.state.requests.at("r"));
    expect("right" in back && back.right.calls.at("r:a")).toEqual(rig.state.calls.at("r:a"));
  });
});

describe("under protocol 1", () => {
  const young = submit(Rig.open(toolsUnder(1, [queued]), {}, 1), "echo");
  it("no call waits in a queue", () => want(young, started("a"), execute("r:a")));
  it("no priority and no place are taken", () => {
    const rig = Rig.open([], {}, 1);
    rig.refuses({ type: "request.submitted", request: "r", hash: "h", priority: 1, calls: [] }, "needs_protocol_2");
    rig.refuses(granted(), "needs_protocol_2");
    rig.refuses({ type: "catalog.published", tools: [queued] }, "needs_protocol_2");
  });
});
