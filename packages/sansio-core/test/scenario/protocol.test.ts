import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { step } from "../../src/machine.ts";
import { defaultOptions } from "../../src/kernel/options.ts";
import { currentProtocol } from "../../src/kernel/protocol.ts";
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
    new Rig().refuses({ ...opened, protocol: currentProtocol + 1 }, "newer_protocol");
    new Rig().refuses({ ...opened, protocol: 0 }, "newer_protocol");
    Rig.open([])
      .refuses({ type: "scope.upgraded", to: currentProtocol + 1 }, "newer_protocol")
      .nothingMore();
  });
  it("changes only by a recorded upgrade", () => {
    Rig.open([]).refuses({ type: "scope.upgraded", to: currentProtocol }, "not_an_upgrade").nothingMore();
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
