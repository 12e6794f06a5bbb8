import { describe, expect, it } from "vitest";
import { ask as decideAsk } from "../../src/call/effect/ask.ts";
import { outstanding } from "../../src/machine.ts";
import { Rig, tool } from "../rig.ts";
import {
  ask,
  completed,
  crash,
  execute,
  hostAnswer,
  hostAnswered,
  of,
  resume,
  running,
  settle,
  submit,
  success,
  want,
} from "./words.ts";

const host = { kind: "host", name: "session.model", input: { id: 1 } } as const;
const ok = { ok: 1 };

describe("a request to the host", () => {
  it("is asked under its key, and its answer is recorded", () => {
    const rig = running();
    want(ask(rig, "r:a", "h", host), {
      type: "host.request",
      call: "r:a",
      key: "h",
      name: "session.model",
      input: { id: 1 },
    });
    const answer = hostAnswer(rig, "r:a", "h", { status: "ok", value: ok });
    want(rig.tell(answer), { type: "step.answer", key: "h", value: rig.state.seq });
    rig.refuses(answer, "effect_settled");
  });
  it("is joined by a body that starts again; an answer that comes meanwhile is kept for it", () => {
    const rig = ask(running(), "r:a", "h", host).skip();
    crash(rig).skip();
    const asked = { ...of("r:a", [1, 2]), key: "h", kind: "host", hash: "h:h" } as const;
    expect(decideAsk(rig.state, asked)).toEqual({ type: "join" });
    hostAnswered(rig, "r:a", "h", ok).nothingMore();
    resume(rig, "r:a", [1, 2]).nothingMore();
    expect(decideAsk(rig.state, asked)).toMatchObject({ type: "answer" });
  });
});

describe("a trigger", () => {
  it("is asked of the host, and its occurrence is reported by the batch that it happened in", () => {
    const rig = running();
    want(ask(rig, "r:a", "t", { kind: "trigger", input: { at: "noon" } }), {
      type: "host.request",
      key: "t",
      input: { at: "noon" },
    });
    want(hostAnswered(rig, "r:a", "t", { occurrence_id: "o" }), { type: "step.answer", key: "t" });
    want(settle(rig, "r:a", success(1)), completed("a"), { type: "reply", triggers: [{ occurrence_id: "o" }] });
  });
  it("that fails is reported to its body alone", () => {
    const rig = ask(running(), "r:a", "t", { kind: "trigger", input: null }).skip();
    const result = { status: "err", error: { code: "closed", message: "no" } } as const;
    want(rig.tell(hostAnswer(rig, "r:a", "t", result)), { type: "step.answer" });
    want(settle(rig, "r:a", success(1)), completed("a"), { type: "reply", triggers: [] });
  });
  it.each([1, 2])("of a nested batch is that batch's; under protocol 2 its request's as well: %i", (protocol) => {
    const rig = running({}, {}, protocol);
    ask(rig, "r:a", "b", { kind: "batch", calls: [{ id: "x", tool: "tool:echo", args: null }] }).skip();
    ask(rig, "r:a/b/x", "t", { kind: "trigger", input: null }).skip();
    hostAnswered(rig, "r:a/b/x", "t", { occurrence_id: "o" }).skip();
    const recorded = { type: "replies.record", key: "b", triggers: [{ occurrence_id: "o" }] } as const;
    want(settle(rig, "r:a/b/x", success(1)), completed("x"), recorded);
    const replies = outstanding(rig.state).flatMap((command) => (command.type === "replies.record" ? command : []));
    for (const command of replies) rig.tell({ ...command, type: "replies.recorded" }).skip();
    const triggers = protocol === 1 ? [] : [{ occurrence_id: "o" }];
    want(settle(rig, "r:a", success(1)), completed("a"), { type: "reply", triggers });
  });
});

it("a body that reuses a record has made progress: its resumes are counted anew", () => {
  const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
  const rig = submit(Rig.open([tool("echo", { retry_policy })], { crash_pauses_ms: [] }), "echo").skip();
  ask(rig, "r:a", "h", host).skip();
  hostAnswered(rig, "r:a", "h", ok).skip();
  const again = {
    outcome: {
      status: "failure",
      payload: { class: "external", code: "c", message: "m", source: "tool", retry: { type: "safe" } },
    },
  };
  settle(rig, "r:a", again as never).skip();
  want(crash(rig), execute("r:a", [2, 2]));
  resume(rig, "r:a", [2, 2]).nothingMore();
  want(rig.tell({ type: "effect.reused", call: "r:a", attempt: 2, key: "h" }), { type: "step.answer" });
  want(crash(rig), execute("r:a", [2, 3]));
});
