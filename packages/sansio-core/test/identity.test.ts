import { createHash } from "node:crypto";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import {
  type AwaitEventWaitIdentity,
  batchOccurrence,
  batchSuffix,
  callChildKey,
  childKey,
  pendingAwaitSuffix,
  promiseKey,
  retrySleepIdentity,
} from "../src/identity/replay-key.ts";
import {
  type ExecutionScope,
  executionScopeId,
  processEffectId,
  processEffectKey,
  processEventKey,
  processSignalWaitSuffix,
  processSleepSuffix,
  sessionOfScope,
  sessionScopeId,
} from "../src/identity/scope.ts";
import { awaitKeyId, batchId, transferEffectId } from "../src/identity/hash.ts";
import { cancelRequest, envRef, eventPayloadHash, wakeId } from "../src/process/hash.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const scopes: readonly (readonly [ExecutionScope, string, string])[] = [
  [{ type: "turn", session_id: "s", turn_id: "t" }, "t", '{"session_id":"s","turn_id":"t","type":"turn"}'],
  [{ type: "process", process_id: "p" }, "p", '{"process_id":"p","type":"process"}'],
  [
    { type: "queue_drain", session_id: "s", drain_id: "d" },
    "d",
    '{"drain_id":"d","session_id":"s","type":"queue_drain"}',
  ],
  [{ type: "session_delete", session_id: "s" }, "s", '{"session_id":"s","type":"session_delete"}'],
  [{ type: "runtime_operation", operation_id: "o" }, "o", '{"operation_id":"o","type":"runtime_operation"}'],
];
const waits: readonly (readonly [AwaitEventWaitIdentity, string])[] = [
  [{ type: "tool_completion", tool_call_id: "c" }, '{"tool_call_id":"c","type":"tool_completion"}'],
  [
    { type: "process_signal", process_id: "p", signal_name: "n", ordinal: 2 },
    '{"ordinal":2,"process_id":"p","signal_name":"n","type":"process_signal"}',
  ],
  [{ type: "custom", key: "k" }, '{"key":"k","type":"custom"}'],
];

describe("the id of a wait's key", () => {
  it("is the hash of scope and wait, of every kind", () => {
    for (const [scope, , scopeText] of scopes) {
      for (const [wait, waitText] of waits) {
        const canonical = `[${scopeText},${waitText}]`;
        expect(awaitKeyId(scope, wait)).toEqual(E.right({ canonical, key_id: sha256(canonical) }));
      }
    }
  });
  it("does not hang on what else an object carries", () => {
    const scope = { ...(scopes[1] as (typeof scopes)[0])[0], extra: "x" };
    const plain = awaitKeyId({ type: "process", process_id: "p" }, { type: "custom", key: "k" });
    expect(awaitKeyId(scope, { type: "custom", key: "k" })).toEqual(plain);
  });
  it("is refused where any component of the wait is blank, or an ordinal 0", () => {
    const refused: readonly AwaitEventWaitIdentity[] = [
      { type: "tool_completion", tool_call_id: "" },
      { type: "process_signal", process_id: " ", signal_name: "n", ordinal: 1 },
      { type: "process_signal", process_id: "p", signal_name: "\t", ordinal: 1 },
      { type: "process_signal", process_id: "p", signal_name: "n", ordinal: 0 },
      { type: "custom", key: "\n" },
    ];
    for (const wait of refused) {
      expect(awaitKeyId({ type: "process", process_id: "p" }, wait)).toEqual(
        E.left({
          code: "invalid_await_event_wait_identity",
          message: "await-event wait identity requires non-empty stable ids",
        }),
      );
    }
  });
  it("is refused where any component of the scope is blank", () => {
    const refused: readonly ExecutionScope[] = [
      { type: "turn", session_id: "", turn_id: "t" },
      { type: "turn", session_id: "s", turn_id: " " },
      { type: "process", process_id: "" },
      { type: "queue_drain", session_id: "s", drain_id: "" },
      { type: "session_delete", session_id: " " },
      { type: "runtime_operation", operation_id: "" },
    ];
    for (const scope of refused) {
      expect(awaitKeyId(scope, { type: "custom", key: "k" })).toEqual(
        E.left({ code: "missing_execution_scope_id", message: "execution scopes require non-empty stable ids" }),
      );
    }
  });
  it("is the name of an engine's promise", () => {
    expect(promiseKey("ab")).toBe("lash-await-event:ab");
  });
});

it("an execution scope is named by its most particular part, and tells its session", () => {
  for (const [scope, id] of scopes) expect(executionScopeId(scope)).toBe(id);
  expect(scopes.map(([scope]) => sessionOfScope(scope))).toEqual(["s", undefined, "s", "s", undefined]);
});

describe("batches", () => {
  it("are known by all their calls, in their order", () => {
    const call = { id: "c", tool_id: "tool:t", args: { b: 1, a: [] } };
    const canonical = '[{"args":{"a":[],"b":1},"id":"c","tool_id":"tool:t"}]';
    expect(batchId([call])).toEqual({ canonical, batch_id: `tool-batch:${sha256(canonical)}` });
    expect(batchId([]).canonical).toBe("[]");
  });
  it("made again are new ones, and the prefix is written once", () => {
    expect([1, 2, 3].map((n) => batchOccurrence("b", n))).toEqual(["b", "b#2", "b#3"]);
    expect(batchSuffix("tool-batch:ab", 2)).toBe("tool-batch:ab#2");
    expect(batchSuffix("7", 1)).toBe("tool-batch:7");
  });
});

describe("keys below a parent", () => {
  it("begin with its key, or else its effect, or else say effect", () => {
    expect(childKey({ replayKey: "k", effectId: "7" }, "x")).toBe("k:x");
    expect(childKey({ replayKey: "", effectId: "7" }, "x")).toBe(":x");
    expect(childKey({ effectId: "7" }, "x")).toBe("7:x");
    expect(childKey({}, "x")).toBe("effect:x");
  });
  it("name the call that asked, so that two calls never meet", () => {
    expect(callChildKey({ replayKey: "k" }, "c1", "durable-step:s")).toBe("k:c1:durable-step:s");
    expect(childKey({ replayKey: "k" }, pendingAwaitSuffix("c1"))).toBe("k:c1:await");
  });
  it("of a retry's pause hang on parent and call", () => {
    const sleep = { sessionId: "s", tool: "echo", attempt: 2 };
    const inCall = { ...sleep, callId: "c" };
    expect(retrySleepIdentity(inCall).replay_key).toBe("lash-tool:s:c:echo:attempt:2:sleep");
    expect(retrySleepIdentity(sleep).replay_key).toBe("lash-tool:s:unknown:echo:attempt:2:sleep");
    expect(retrySleepIdentity({ ...inCall, parent: { replayKey: "k", effectId: "7" } })).toEqual({
      effect_id: "7:echo:attempt:2:sleep",
      replay_key: "k:c:echo:attempt:2:sleep",
    });
    expect(retrySleepIdentity({ ...sleep, parent: {} })).toEqual({
      effect_id: "effect:echo:attempt:2:sleep",
      replay_key: "effect:echo:attempt:2:sleep",
    });
  });
  it("of a retry's pause keep the call even where its tool has the same name", () => {
    const sleep = { sessionId: "s", tool: "c", attempt: 1, callId: "c", parent: { replayKey: "k" } };
    expect(retrySleepIdentity(sleep).replay_key).toBe("k:c:c:attempt:1:sleep");
  });
});

describe("keys of processes", () => {
  it("number a call's events in each attempt", () => {
    expect(processEventKey("c", 1, 0)).toBe("tool:c:durable-process-event:0");
    expect(processEventKey("c", 2, 1)).toBe("tool:c:attempt:2:durable-process-event:1");
  });
  it("name each effect on the registry", () => {
    const [from, to] = [{ session_id: "a" }, { session_id: "b", agent_frame_id: "f" }];
    expect(processEffectId({ op: "start", process_id: "p" })).toBe("process:start:p");
    expect(processEffectId({ op: "await", process_id: "p" })).toBe("process:await:p");
    expect(processEffectId({ op: "cancel", process_id: "p" })).toBe("process:cancel:p");
    expect(processEffectId({ op: "list", scope: to, mode: "live" })).toBe("process:list:session:b/frame:f:live");
    expect(processEffectId({ op: "delete_session", session_id: "a" })).toBe("process:delete-session:a");
    expect(processEffectId({ op: "signal", process_id: "p", signal_name: "n", signal_id: "i" })).toBe(
      "process:signal:p:signal.n:i",
    );
    expect(transferEffectId(from, to, ["p", "q"])).toBe(
      `process:transfer:session:a:session:b/frame:f:${sha256('["p","q"]')}`,
    );
  });
  it("begin with the parent's, or with the session", () => {
    expect(processEffectKey({ replayKey: "k" }, "s", "process:await:p")).toBe("k:process:await:p");
    expect(processEffectKey({}, "s", "process:await:p")).toBe("process:process:await:p");
    expect(processEffectKey(undefined, "s", "process:await:p")).toBe("s:process:await:p");
  });
  it("name what a process's own run waits for", () => {
    expect(processSleepSuffix("p", 0)).toBe("process:p:sleep:0");
    expect(processSignalWaitSuffix("p", "n", 2)).toBe("process:p:signal.n:await:2");
  });
  it("of a cancel hang on its reason", () => {
    const canonical = '["process.cancel_requested",{"reason":"why"}]';
    const { request, payload } = cancelRequest("p", "why");
    expect(payload).toEqual({ canonical, hash: sha256(canonical) });
    expect(request).toEqual({
      event_type: "process.cancel_requested",
      payload: { reason: "why" },
      replay: { key: `process:p:cancel_requested:${sha256(canonical)}` },
    });
    expect(cancelRequest("p", null).request.replay).not.toEqual(request.replay);
  });
  it("of payloads are hashes of type and payload", () => {
    expect(eventPayloadHash("x", { b: 1, a: 2 }).hash).toBe(sha256('["x",{"a":2,"b":1}]'));
    expect(envRef({})).toBe(`process-env:sha256:${sha256("{}")}`);
  });
});

it("a session scope names its frame where it has one", () => {
  expect(sessionScopeId({ session_id: "s" })).toBe("session:s");
  expect(sessionScopeId({ session_id: "s", agent_frame_id: "" })).toBe("session:s");
  expect(sessionScopeId({ session_id: "s", agent_frame_id: "f" })).toBe("session:s/frame:f");
});

it("a wake is known by its target and dedupe key", () => {
  const canonical = '["session:s","p:3"]';
  expect(wakeId({ session_id: "s" }, "p:3")).toEqual({ canonical, wake_id: `wake:${sha256(canonical)}` });
});
