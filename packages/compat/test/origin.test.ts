import { createHash } from "node:crypto";
import type { CausalRef, RuntimeInvocation } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import type { LlmRequest } from "@pawl/runtime/driver";
import { processInvocation, processSignalWaitInvocation, processSleepInvocation } from "../src/process-invocation.ts";
import { directDiscriminator, directInvocation, triggerInvocation, turnInvocation } from "../src/turn-invocation.ts";

const parent: RuntimeInvocation = {
  scope: { session_id: "other", turn_id: "t1", turn_index: 0 },
  subject: { type: "effect", effect_id: "7", kind: "exec_code" },
  replay: { key: "K" },
};
const place = { sessionId: "s", scopeId: "t1" };
const awaited = { op: "await", process_id: "p" } as const;
const listed = { op: "list", session_scope: { session_id: "s" }, mode: "live" } as const;

describe("an effect of a turn", () => {
  it("has the turn's place in its key", () => {
    const turn = { session_id: "s", turn_id: "t", turn_index: 1, protocol_iteration: 2 };
    expect(turnInvocation(turn, "tool_batch", 7)).toEqual({
      scope: turn,
      subject: { type: "effect", effect_id: "7", kind: "tool_batch" },
      replay: { key: "s:t:1:2:tool_batch:7" },
    });
  });
});

describe("a direct completion", () => {
  const asked = { session_id: "s", usage_source: "u", request: { key: "k" } };

  it("is known by its own key, in its turn where it has one", () => {
    expect(directInvocation({ ...asked, turn_id: "t" })).toEqual({
      scope: { session_id: "s", turn_id: "t" },
      subject: { type: "effect", effect_id: "request:k", kind: "direct" },
      replay: { key: "s:t:direct:u:request:k" },
    });
    for (const turn of [{}, { turn_id: "" }]) {
      const { scope, replay } = directInvocation({ ...asked, ...turn });
      expect([scope, replay]).toEqual([{ session_id: "s" }, { key: "s:direct:u:request:k" }]);
    }
  });

  it("is known by what it asks where it has no key", () => {
    const request: LlmRequest = {
      model: "m",
      messages: [],
      attachments: [],
      tools: [],
      tool_choice: "auto",
      model_variant: null,
      generation: {},
      session_id: null,
      output_spec: null,
    };
    const canonical =
      '{"attachments":[],"generation":{},"messages":[],"model":"m","model_variant":null,"output_spec":null,"session_id":null,"tool_choice":"auto","tools":[]}';
    const hash = createHash("sha256").update(canonical).digest("hex");
    expect(directDiscriminator({ ...asked, request })).toBe(`sha256:${hash}`);
  });

  it("made again is a new one", () => {
    expect(directInvocation({ ...asked, occurrence: 2 }).replay).toEqual({ key: "s:direct:u:request:k#2" });
  });

  it("has its cause in its key", () => {
    const causes: readonly (readonly [CausalRef, string])[] = [
      [{ type: "tool_call", session_id: "s", call_id: "c" }, "cause:tool_call:s:c:"],
      [{ type: "turn", session_id: "s", turn_id: "t" }, "cause:turn:s:t:"],
      [{ type: "effect", session_id: "s", turn_id: "t", effect_id: "e" }, "cause:effect:s:t:e:"],
      [{ type: "effect", session_id: "s", effect_id: "e" }, "cause:effect:s::e:"],
      [{ type: "process", process_id: "p" }, "cause:process:p:"],
      [{ type: "process_event", process_id: "p", sequence: 3 }, "cause:process_event:p:3:"],
      [{ type: "trigger_occurrence", occurrence_id: "o" }, "cause:trigger:o:"],
      [{ type: "session_node", session_id: "s", node_id: "n" }, "cause:session_node:s:n:"],
    ];
    for (const [caused_by, text] of causes) {
      const invocation = directInvocation({ ...asked, caused_by });
      expect(invocation.caused_by).toEqual(caused_by);
      expect(invocation.replay).toEqual({ key: `s:direct:u:${text}request:k` });
    }
  });
});

it("a trigger is known by its occurrence", () => {
  expect(triggerInvocation("s", "o")).toEqual({
    scope: { session_id: "s" },
    subject: { type: "trigger_occurrence", occurrence_id: "o" },
    replay: { key: "trigger:o" },
  });
});

describe("a command on processes", () => {
  it("is the session's where nothing is above it", () => {
    expect(processInvocation(place, awaited)).toEqual({
      scope: { session_id: "s" },
      subject: { type: "effect", effect_id: "process:await:p", kind: "process" },
      replay: { key: "s:process:await:p" },
    });
  });
  it("keeps its parent's turn, but for the session; without a turn it keeps nothing", () => {
    const invocation = processInvocation({ ...place, parent }, awaited);
    expect(invocation).toEqual({
      scope: { session_id: "s", turn_id: "t1", turn_index: 0 },
      subject: { type: "effect", effect_id: "process:await:p", kind: "process" },
      caused_by: { type: "effect", session_id: "other", turn_id: "t1", effect_id: "7" },
      replay: { key: "K:process:await:p" },
    });
    const unturned = { ...parent, scope: { session_id: "other", turn_index: 3 } };
    expect(processInvocation({ ...place, parent: unturned }, awaited).scope).toEqual({ session_id: "s" });
  });
  it("has the key of its process, not of an effect, below a parent without one", () => {
    const { replay: _, ...unkeyed } = parent;
    expect(processInvocation({ ...place, parent: unkeyed }, awaited).replay).toEqual({
      key: "process:process:await:p",
    });
  });
  it("that a call makes has the call in its key", () => {
    const inCall = { ...place, callId: "c1" };
    expect(processInvocation(inCall, awaited).replay).toEqual({ key: "t1:tool:c1:process:await:p" });
    expect(processInvocation({ ...inCall, parent }, awaited).replay).toEqual({ key: "K:c1:process:await:p" });
  });
  it("is the same when it is made again, but for a list", () => {
    expect(processInvocation(place, awaited, 2)).toEqual(processInvocation(place, awaited));
    expect(processInvocation(place, listed, 2).replay).toEqual({ key: "s:process:list:session:s:live#2" });
  });
  it("is named by what it is about", () => {
    const [from_scope, to_scope] = [{ session_id: "a" }, { session_id: "b" }];
    const ids = createHash("sha256").update('["p"]').digest("hex");
    const request = { event_type: "signal.n", payload: null };
    const signal = { op: "signal", process_id: "p", signal_name: "n", signal_id: "i", request } as const;
    const keys = [
      processInvocation(place, { op: "transfer", from_scope, to_scope, process_ids: ["p"] }),
      processInvocation(place, { op: "delete_session", session_id: "x" }),
      processInvocation(place, { op: "cancel", process_id: "p", reason: null }),
      processInvocation(place, signal),
    ].map(({ replay }) => replay?.key);
    expect(keys).toEqual([
      `s:process:transfer:session:a:session:b:${ids}`,
      "s:process:delete-session:x",
      "s:process:cancel:p",
      "s:process:signal:p:signal.n:i",
    ]);
  });
});

describe("what a process's run waits for", () => {
  it("is named by the process where nothing is above it", () => {
    expect(processSleepInvocation(place, "p", 0)).toEqual({
      scope: { session_id: "s" },
      subject: { type: "effect", effect_id: "process:p:sleep:0", kind: "sleep" },
      replay: { key: "process:p:sleep:0" },
    });
  });
  it("is a child of what is above it", () => {
    const wait = { processId: "p", name: "go", ordinal: 2 };
    expect(processSignalWaitInvocation({ ...place, parent }, wait)).toEqual({
      scope: parent.scope,
      subject: { type: "effect", effect_id: "7:process:p:signal.go:await:2", kind: "await_event" },
      caused_by: { type: "effect", session_id: "other", turn_id: "t1", effect_id: "7" },
      replay: { key: "K:process:p:signal.go:await:2" },
    });
  });
});
