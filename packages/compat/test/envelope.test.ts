import { createHash } from "node:crypto";
import type { RuntimeInvocation } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { type RuntimeEffectCommand, checkPerformed } from "../src/command.ts";
import { effectEnvelope, envelopeHash, validateEnvelope } from "../src/envelope.ts";

const invocation = (kind: RuntimeEffectCommand["type"], effect_id = "e"): RuntimeInvocation => ({
  scope: { session_id: "s" },
  subject: { type: "effect", effect_id, kind },
  replay: { key: "r" },
});
const sleep = { type: "sleep", duration_ms: 1 } as const;
const call = (call_id: string) => ({ call_id, tool_id: "i", tool_name: "t", args: {}, prepared_payload: null });
const batch = (...calls: readonly (readonly [string, string])[]): RuntimeEffectCommand => ({
  type: "tool_batch",
  batch: { batch_id: "b", calls: calls.map(([id, replay_suffix]) => ({ call: call(id), replay_suffix })) },
});

const wrong = (given: RuntimeInvocation, command: RuntimeEffectCommand): unknown => {
  const valid = validateEnvelope({ invocation: given, command });
  return E.isLeft(valid) ? [valid.left.code, valid.left.message] : "right";
};

describe("an envelope", () => {
  it("is about an effect that has a name", () => {
    const subject = { type: "session_node", node_id: "n" } as const;
    const code = "runtime_effect_invocation_subject";
    expect(wrong({ scope: { session_id: "s" }, subject }, sleep)).toEqual([
      code,
      "runtime effect envelope subject must be an effect",
    ]);
    expect(wrong(invocation("direct", " "), sleep)).toEqual([
      code,
      "runtime effect envelope effect id must be non-empty",
    ]);
  });
  it("is of one kind, which is seen before the key is", () => {
    const { replay: _, ...unkeyed } = invocation("direct");
    expect(wrong(unkeyed, sleep)).toEqual([
      "runtime_effect_invocation_kind",
      "runtime effect invocation kind direct does not match command kind sleep",
    ]);
  });
  it("has a key, which may be of blanks, and which is seen before the command is", () => {
    const step = { type: "durable_step", step_id: "", input: null } as const;
    const given = invocation("durable_step");
    const { replay: _, ...unkeyed } = given;
    const refused = ["runtime_effect_replay_required", "runtime effect envelope requires replay.key"];
    expect(wrong(unkeyed, step)).toEqual(refused);
    expect(wrong({ ...given, replay: { key: "" } }, step)).toEqual(refused);
    expect(wrong({ ...given, replay: { key: " " } }, step)).toEqual([
      "runtime_effect_durable_step_id",
      "runtime effect durable step id must be non-empty",
    ]);
  });
  it("of a batch has an id, calls, and in each call its id before its suffix", () => {
    const given = invocation("tool_batch");
    const id = { type: "tool_batch", batch: { batch_id: " ", calls: [] } } as const;
    const head = "runtime effect tool batch";
    expect(wrong(given, id)).toEqual(["runtime_effect_tool_batch_id", `${head} id must be non-empty`]);
    expect(wrong(given, batch())).toEqual([
      "runtime_effect_tool_batch_empty",
      `${head} must contain at least one prepared call`,
    ]);
    expect(wrong(given, batch(["c", "x"], [" ", ""]))).toEqual([
      "runtime_effect_tool_batch_child_call_id",
      `${head} child 1 has an empty call id`,
    ]);
    expect(wrong(given, batch(["c", ""], ["", "x"]))).toEqual([
      "runtime_effect_tool_batch_child_replay",
      `${head} child 0 has an empty replay suffix`,
    ]);
    expect(wrong(given, batch(["c", "x"], ["c", "x"]))).toBe("right");
  });
  it("is made by those who know that it is right", () => {
    expect(effectEnvelope(invocation("sleep"), sleep)).toEqual({ invocation: invocation("sleep"), command: sleep });
    expect(() => effectEnvelope(invocation("direct"), sleep)).toThrow(
      new TypeError(
        "runtime_effect_invocation_kind: runtime effect invocation kind direct does not match command kind sleep",
      ),
    );
  });
  it("is told apart by the hash of its canonical text", () => {
    const canonical =
      '{"command":{"duration_ms":1,"type":"sleep"},"invocation":{"replay":{"key":"r"},"scope":{"session_id":"s"},"subject":{"effect_id":"e","kind":"sleep","type":"effect"}}}';
    const hash = createHash("sha256").update(canonical).digest("hex");
    expect(envelopeHash({ invocation: invocation("sleep"), command: sleep })).toBe(hash);
  });
});

describe("a command", () => {
  it("that pawl performs passes", () => {
    expect(checkPerformed(sleep)).toEqual(E.right(sleep));
  });
  it("that it does not perform is refused by its name", () => {
    expect(checkPerformed({ type: "exec_code", language: "ts", code: "" })).toEqual(
      E.left({
        code: "runtime_effect_local_executor_unavailable",
        message: "no local executor is available for exec_code",
        kind: "exec_code",
      }),
    );
  });
});
