import { describe, expect, it } from "vitest";
import type { Event } from "../../src/kernel/vocabulary.ts";
import { Rig, tool } from "../rig.ts";
import { completed, crash, execute, of, replied, settle, submit, success, want } from "./words.ts";

const moving = (): Rig => {
  const rig = submit(Rig.open([tool("echo")]), "echo").skip();
  return rig.tell({ type: "scope.moving", to: "store:b", nonce: "n" }).nothingMore();
};
const done: Event = {
  type: "call.settled",
  ...of("r:a"),
  result: { type: "done", output: success(1) },
  duration_ms: 1,
};

describe("a scope that moves", () => {
  it("accepts nothing more", () => {
    const rig = moving().refuses(done, "scope_is_moving");
    rig.refuses({ type: "clock.ticked" }, "scope_is_moving");
    rig.refuses({ type: "owner.lost", owner: "d1" }, "scope_is_moving");
    rig.refuses({ type: "scope.moving", to: "store:c", nonce: "m" }, "scope_is_moving");
    rig.nothingMore();
  });
  it("is received by the target, on its copy of the log, where older owners are lost", () => {
    const rig = moving();
    rig.refuses({ type: "scope.received", nonce: "m", epoch: 2, owner: "d2" }, "nonce_mismatch");
    rig.refuses({ type: "scope.received", nonce: "n", epoch: 1, owner: "d2" }, "stale_epoch");
    want(rig.tell({ type: "scope.received", nonce: "n", epoch: 2, owner: "d2" }), execute("r:a", [1, 2]));
    expect(rig.state.scope).toMatchObject({ epoch: 2, owner: "d2", status: { type: "open" } });
  });
  it("is read-only for ever at the source, once the target has it", () => {
    const rig = moving().refuses({ type: "scope.moved", nonce: "m" }, "nonce_mismatch");
    rig.tell({ type: "scope.moved", nonce: "n" }).nothingMore();
    const options = rig.state.scope.options;
    const events: readonly Event[] = [
      done,
      { type: "scope.kept", nonce: "n" },
      { type: "scope.received", nonce: "n", epoch: 9, owner: "d2" },
      { type: "scope.opened", epoch: 9, owner: "d2", protocol: 1, options },
    ];
    for (const event of events) rig.refuses(event, "scope_has_moved");
    rig.nothingMore();
  });
  it("is taken back where the target never received it, and goes on as it was", () => {
    const rig = moving().refuses({ type: "scope.kept", nonce: "m" }, "nonce_mismatch");
    rig.tell({ type: "scope.kept", nonce: "n" }).nothingMore();
    want(settle(rig, "r:a", success(1)), completed("a"), replied(success(1)));
  });
  it("that is claimed anew meanwhile still moves; if it is kept, the older owner is lost", () => {
    const rig = crash(moving()).nothingMore();
    rig.refuses(done, "scope_is_moving");
    want(rig.tell({ type: "scope.kept", nonce: "n" }), execute("r:a", [1, 2]));
  });
  it("keeps its deadlines as they are, and they pass afterwards", () => {
    const rig = submit(Rig.open([tool("echo")]), "echo").skip();
    rig.tell({ type: "request.cancelled", request: "r" }).skip();
    rig.tell({ type: "scope.moving", to: "b", nonce: "n" }).nothingMore();
    rig.after(1000).tell({ type: "scope.kept", nonce: "n" }).nothingMore();
    want(rig.tick(0), completed("a"), { type: "reply" });
  });
});

describe("a scope that does not move", () => {
  it("is not received, moved or kept", () => {
    const rig = Rig.open([]);
    rig.refuses({ type: "scope.received", nonce: "n", epoch: 2, owner: "d2" }, "scope_is_not_moving");
    rig.refuses({ type: "scope.moved", nonce: "n" }, "scope_is_not_moving");
    rig.refuses({ type: "scope.kept", nonce: "n" }, "scope_is_not_moving");
    rig.nothingMore();
  });
});
