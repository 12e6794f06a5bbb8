import { describe, expect, it } from "vitest";
import { outstanding } from "../../src/machine.ts";
import { ackOf } from "../../src/request/model.ts";
import { Rig, tool } from "../rig.ts";
import { failure, replied, settle, submit, success, want } from "./words.ts";

const echo = [tool("echo")];
const calls = (...ids: readonly string[]) => ids.map((id) => ({ id, tool: "echo", args: null }));

describe("a request", () => {
  it("is joined while it is live, and in conflict under another body", () => {
    const rig = submit(Rig.open(echo), "echo").skip();
    rig.refuses({ type: "request.submitted", request: "r", hash: "h", calls: calls("a") }, "request_exists");
    rig.refuses({ type: "request.submitted", request: "r", hash: "other", calls: calls("b") }, "request_conflict");
    settle(rig, "r:a", success(1)).skip();
    rig.refuses({ type: "request.submitted", request: "r", hash: "h", calls: calls("a") }, "request_exists");
    rig.nothingMore();
  });
  it("is refused whole when ids are empty or repeated, before anything starts", () => {
    const rig = Rig.open(echo);
    for (const ids of [["a", "a"], ["a", ""], [" "]]) {
      rig.refuses({ type: "request.submitted", request: "r", hash: "h", calls: calls(...ids) }, "call_id_conflict");
    }
    rig.refuses({ type: "request.submitted", request: " ", hash: "h", calls: calls("a") }, "empty_id");
    rig.nothingMore();
  });
  it("may use the ids of another request", () => {
    const rig = submit(Rig.open(echo), "echo").skip();
    rig.tell({ type: "request.submitted", request: "s", hash: "h", calls: calls("a") }).skip();
    want(settle(rig, "r:a", success(1)), { type: "observe", call: "r:a" }, replied(success(1)));
    want(settle(rig, "s:a", success(2)), { type: "observe", call: "s:a" }, { type: "reply", request: "s" });
  });
  it("and its calls are told apart from those of any other, whatever stands in the ids", () => {
    const rig = Rig.open(echo);
    rig.tell({ type: "request.submitted", request: "a:b", hash: "h", calls: calls("c") }).skip();
    rig.tell({ type: "request.submitted", request: "a", hash: "h", calls: calls("b:c") }).skip();
    expect(rig.state.calls.size).toBe(2);
    rig.nothingMore();
  });
});

/** A request of one call that has ended so. */
const endedAs = (of: "failed" | "done", protocol?: number): Rig => {
  const rig = submit(Rig.open(echo, {}, protocol), "echo").skip();
  return settle(rig, "r:a", of === "done" ? success(1) : failure("external", "no", "no")).skip();
};

describe("a reply", () => {
  it("is sent again until it is acknowledged, once", () => {
    const rig = submit(Rig.open(echo), { tool: "echo", replay: { item_id: "i" } }).skip();
    rig.refuses({ type: "reply.acked", request: "r" }, "no_reply_waits");
    settle(rig, "r:a", success(1), [1, 1], 7).skip();
    const reply = {
      call_id: "a",
      tool: "echo",
      args: { n: 0 },
      output: success(1),
      duration_ms: 7,
      replay: { item_id: "i" },
    };
    expect(outstanding(rig.state)).toEqual([{ type: "reply", request: "r", replies: [reply], triggers: [] }]);
    rig.tell({ type: "reply.acked", request: "r" }).nothingMore();
    expect(outstanding(rig.state)).toEqual([]);
    rig.refuses({ type: "reply.acked", request: "r" }, "request_unknown");
  });
  it("is acknowledged with how its request has ended, which is checked, since protocol 2", () => {
    const acked = { type: "reply.acked", request: "r" } as const;
    const failed = endedAs("failed");
    const born = failed.state.requests.at("r")?.born ?? 0;
    expect(ackOf(failed.state, "r")).toEqual({ ...acked, born, ended: "failed" });
    expect(ackOf(endedAs("done").state, "r")).toEqual({ ...acked, born });
    expect(ackOf(endedAs("failed", 1).state, "r")).toEqual(acked);
    failed.refuses({ ...acked, born: born + 1, ended: "failed" }, "no_reply_waits");
    failed.refuses({ ...acked, born }, "no_reply_waits");
    failed.tell({ ...acked, born, ended: "failed" }).nothingMore();
    endedAs("failed", 1).refuses({ ...acked, born, ended: "failed" }, "needs_protocol_2");
  });
  it("leaves its id and its calls to the finished index", () => {
    const rig = submit(Rig.open(echo), "echo").skip();
    const result = { type: "done", output: success(1) } as const;
    const ended = rig.offer({ type: "call.settled", call: "r:a", attempt: 1, run: 1, result, duration_ms: 1 });
    expect(ended).toMatchObject({ right: { finished: [{ kind: "call", id: "r:a" }] } });
    settle(rig, "r:a", success(1)).skip();
    expect(rig.offer({ type: "reply.acked", request: "r" })).toMatchObject({
      right: { finished: [{ kind: "request", id: "r" }] },
    });
    rig.nothingMore();
  });
});
