import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { digest, step } from "../../src/machine.ts";
import type { Envelope } from "../../src/kernel/vocabulary.ts";
import { defaultOptions } from "../../src/kernel/options.ts";
import { currentProtocol, newestProtocol } from "../../src/kernel/protocol.ts";
import { Rig, tool } from "../rig.ts";
import { completed, execute, settle, started, submit, success, want } from "./words.ts";

const opened = {
  type: "scope.opened",
  epoch: 1,
  owner: "d1",
  protocol: currentProtocol,
  options: defaultOptions,
} as const;

describe("a log", () => {
  it("begins with its opening", () => {
    new Rig().refuses({ type: "clock.ticked" }, "scope_not_opened").tell(opened).nothingMore();
  });
  it("is opened again only by a later epoch", () => {
    const rig = Rig.open([]);
    rig.refuses(opened, "stale_epoch");
    rig.tell({ ...opened, epoch: 5 });
    rig.refuses({ ...opened, epoch: 4 }, "stale_epoch").nothingMore();
  });
  it("has no gaps, and its time does not go back", () => {
    const { state, at } = Rig.open([]);
    const code = (seq: number, time: number): string | undefined => {
      const result = step(state, { seq, at: time, event: { type: "clock.ticked" } });
      return E.isLeft(result) ? result.left.code : undefined;
    };
    expect(code(state.seq, at)).toBe("sequence_mismatch");
    expect(code(state.seq + 2, at)).toBe("sequence_mismatch");
    expect(code(state.seq + 1, at - 1)).toBe("time_went_back");
    expect(code(state.seq + 1, at)).toBeUndefined();
  });
});

describe("a protocol", () => {
  it("that is newer than this core is refused", () => {
    new Rig().refuses({ ...opened, protocol: newestProtocol + 1 }, "newer_protocol");
    new Rig().refuses({ ...opened, protocol: 0 }, "newer_protocol");
    Rig.open([])
      .refuses({ type: "scope.upgraded", to: newestProtocol + 1 }, "newer_protocol")
      .nothingMore();
  });
  it("changes only by a recorded upgrade", () => {
    Rig.open([], {}, 2).refuses({ type: "scope.upgraded", to: 2 }, "not_an_upgrade").nothingMore();
    const rig = Rig.open([], {}, 1).refuses({ ...opened, epoch: 2, protocol: 2 }, "not_an_upgrade");
    rig.upgrade(2).refuses({ ...opened, epoch: 2, protocol: 1 }, "not_an_upgrade");
    rig.tell({ ...opened, epoch: 2, protocol: 2 }).nothingMore();
    expect(rig.state.scope.protocol).toBe(2);
  });
  it("never changes while the scope moves", () => {
    const rig = Rig.open([], {}, 1).tell({ type: "scope.moving", to: "elsewhere", nonce: "n" });
    rig.refuses({ type: "scope.upgraded", to: 2 }, "scope_is_moving").tell({ type: "scope.kept", nonce: "n" });
    rig.upgrade().nothingMore();
  });
  it("decides the form of digests from its upgrade on", () => {
    const one = Rig.open([], {}, 1);
    const ticked = { seq: 3, at: one.at, event: { type: "clock.ticked" } } as const;
    const upgraded = { seq: 3, at: one.at, event: { type: "scope.upgraded", to: 2 } } as const;
    const digestOf = (envelope: Envelope): string => {
      const result = step(one.state, envelope);
      return E.isRight(result) ? digest(result.right) : result.left.code;
    };
    expect(digestOf(ticked)).not.toBe(digestOf(upgraded));
  });
});

describe("options and tools", () => {
  it("hold from the event that says so", () => {
    const rig = Rig.open([tool("echo")], { concurrency: 1 });
    submit(rig, "echo", "echo", "echo").skip();
    const configured = { type: "scope.configured", options: { ...defaultOptions, concurrency: 2 } } as const;
    want(rig.tell(configured), started("b"), execute("r:b"));
    want(settle(rig, "r:a", success(1)), completed("a"), started("c"), execute("r:c"));
  });
  it("are told apart by id and by name", () => {
    const rig = Rig.open([]);
    rig.refuses({ type: "catalog.published", tools: [tool("a"), tool("a", { id: "x" })] }, "tool_conflict");
    rig.refuses(
      { type: "catalog.published", tools: [tool("a", { id: "x" }), tool("b", { id: "x" })] },
      "tool_conflict",
    );
    rig.nothingMore();
  });
});
