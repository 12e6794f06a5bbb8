import type { RuntimeInvocation } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import {
  awaitInvocation,
  batchInvocation,
  causalRefOf,
  childInvocation,
  pendingAwaitInvocation,
  retrySleepInvocation,
  stepInvocation,
} from "../src/invocation.ts";

const parent: RuntimeInvocation = {
  scope: { session_id: "s1", turn_id: "t1", turn_index: 0, protocol_iteration: 2 },
  subject: { type: "effect", effect_id: "7", kind: "exec_code" },
  replay: { key: "K" },
};
const process: RuntimeInvocation = { scope: { session_id: "s1" }, subject: { type: "process", process_id: "p" } };
const causedByParent = { type: "effect", session_id: "s1", turn_id: "t1", effect_id: "7" };
const alone = { sessionId: "s1", scopeId: "t1", callId: "c1" };
const keyOf = (invocation: RuntimeInvocation): string | undefined => invocation.replay?.key;

const effect = (effect_id: string, kind: string): object => ({ type: "effect", effect_id, kind });

describe("a cause", () => {
  it("says what the invocation is about, one to one", () => {
    const scope = { session_id: "s" };
    const refs = [
      { scope: { ...scope, turn_id: "" }, subject: { type: "effect", effect_id: "e", kind: "sleep" } },
      { scope, subject: { type: "effect", effect_id: "e", kind: "sleep" } },
      { scope, subject: { type: "process", process_id: "p" } },
      { scope, subject: { type: "process_event", process_id: "p", sequence: 3, event_type: "x" } },
      { scope, subject: { type: "trigger_occurrence", occurrence_id: "o" } },
      { scope, subject: { type: "session_node", node_id: "n" } },
    ] satisfies readonly RuntimeInvocation[];
    expect(refs.map(causalRefOf)).toEqual([
      { type: "effect", session_id: "s", turn_id: "", effect_id: "e" },
      { type: "effect", session_id: "s", effect_id: "e" },
      { type: "process", process_id: "p" },
      { type: "process_event", process_id: "p", sequence: 3 },
      { type: "trigger_occurrence", occurrence_id: "o" },
      { type: "session_node", session_id: "s", node_id: "n" },
    ]);
  });
});

describe("a child", () => {
  it("has its parent's scope and key, and the parent as its cause", () => {
    expect(childInvocation(parent, { effectId: "e", kind: "sleep", suffix: "x" })).toEqual({
      scope: parent.scope,
      subject: effect("e", "sleep"),
      caused_by: causedByParent,
      replay: { key: "K:x" },
    });
  });
  it("takes an empty key for a key, and only then the effect id, and only then a word", () => {
    const suffixed = { effectId: "e", kind: "sleep", suffix: "x" } as const;
    const { replay: _, ...unkeyed } = parent;
    expect(keyOf(childInvocation({ ...parent, replay: { key: "" } }, suffixed))).toBe(":x");
    expect(keyOf(childInvocation(unkeyed, suffixed))).toBe("7:x");
    expect(keyOf(childInvocation(process, suffixed))).toBe("effect:x");
  });
});

describe("a step and a wait", () => {
  it("are the scope's and the call's own where nothing is above them", () => {
    expect(stepInvocation(alone, "create")).toEqual({
      scope: { session_id: "s1" },
      subject: effect("c1:durable-step:create", "durable_step"),
      replay: { key: "t1:tool:c1:durable-step:create" },
    });
    expect(awaitInvocation(alone, "K")).toEqual({
      scope: { session_id: "s1" },
      subject: effect("c1:await-event:K", "await_event"),
      replay: { key: "t1:tool:c1:await-event:K" },
    });
  });
  it("have the call in their key below a parent as well", () => {
    expect(stepInvocation({ ...alone, parent }, "create")).toEqual({
      scope: parent.scope,
      subject: effect("c1:durable-step:create", "durable_step"),
      caused_by: causedByParent,
      replay: { key: "K:c1:durable-step:create" },
    });
    expect(keyOf(awaitInvocation({ ...alone, parent: process }, "w"))).toBe("effect:c1:await-event:w");
    expect(keyOf(awaitInvocation({ ...alone, parent: { ...parent, replay: { key: "" } } }, "w"))).toBe(
      ":c1:await-event:w",
    );
  });
});

describe("a batch", () => {
  const { callId: _, ...turn } = alone;

  it("of a turn has no call in its key", () => {
    expect(batchInvocation(turn, "tool-batch:b")).toEqual({
      scope: { session_id: "s1" },
      subject: effect("tool-batch:b", "tool_batch"),
      replay: { key: "t1:tool-batch:b" },
    });
    expect(batchInvocation({ ...turn, parent }, "tool-batch:b")).toEqual({
      scope: parent.scope,
      subject: effect("7:tool-batch:b", "tool_batch"),
      caused_by: causedByParent,
      replay: { key: "K:tool-batch:b" },
    });
  });
  it("of a call has it", () => {
    expect(keyOf(batchInvocation(alone, "b"))).toBe("t1:tool:c1:tool-batch:b");
    expect(keyOf(batchInvocation({ ...alone, parent }, "b"))).toBe("K:c1:tool-batch:b");
  });
  it("made again is a new one, its prefix written once", () => {
    expect(batchInvocation(turn, "tool-batch:b", 3).subject).toEqual(effect("tool-batch:b#3", "tool_batch"));
    expect(keyOf(batchInvocation({ ...turn, parent: process }, "b", 2))).toBe("effect:tool-batch:b#2");
    expect(batchInvocation({ ...turn, parent: process }, "b", 2).subject).toEqual(
      effect("effect:tool-batch:b#2", "tool_batch"),
    );
  });
});

describe("the pause between attempts", () => {
  it("is named by what the tool hands outside, or below its parent by call and tool", () => {
    const key = "lash-tool:s1:c1:echo:attempt:1:sleep";
    expect(retrySleepInvocation(alone, "echo", 1)).toEqual({
      scope: { session_id: "s1" },
      subject: effect(key, "sleep"),
      replay: { key },
    });
    expect(retrySleepInvocation({ ...alone, parent }, "echo", 1)).toEqual({
      scope: parent.scope,
      subject: effect("7:echo:attempt:1:sleep", "sleep"),
      caused_by: causedByParent,
      replay: { key: "K:c1:echo:attempt:1:sleep" },
    });
  });
});

describe("the wait of a pending call", () => {
  it("names its call once below its parent", () => {
    expect(pendingAwaitInvocation({ ...alone, parent })).toEqual({
      scope: parent.scope,
      subject: effect("7:c1:await", "await_event"),
      caused_by: causedByParent,
      replay: { key: "K:c1:await" },
    });
    expect(pendingAwaitInvocation({ ...alone, parent: process }).subject).toEqual(
      effect("tool:c1:await", "await_event"),
    );
  });
  it("is given a parent where it has none", () => {
    expect(pendingAwaitInvocation(alone)).toEqual({
      scope: { session_id: "s1" },
      subject: effect("tool:c1:await:c1:await", "await_event"),
      caused_by: { type: "effect", session_id: "s1", effect_id: "tool:c1:await" },
      replay: { key: "tool:c1:await:c1:await" },
    });
  });
});
