import { describe, expect, it } from "vitest";
import { ask as decideAsk } from "../../src/call/ask.ts";
import { Rig, tool } from "../rig.ts";
import { ask, completed, crash, execute, of, resume, running, settle, submit, success, want } from "./words.ts";

const host = { kind: "host", name: "session.model", input: { id: 1 } } as const;
const answered = (key: string, value: object = { ok: 1 }) =>
  ({ type: "host.answered", call: "r:a", key, result: { status: "ok", value: value as never } }) as const;

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
    want(rig.tell(answered("h")), { type: "step.answer", key: "h", value: rig.state.seq });
    rig.refuses(answered("h"), "effect_settled");
  });
  it("is joined by a body that starts again; an answer that comes meanwhile is kept for it", () => {
    const rig = ask(running(), "r:a", "h", host).skip();
    crash(rig).skip();
    const asked = { ...of("r:a", [1, 2]), key: "h", kind: "host", hash: "h:h" } as const;
    expect(decideAsk(rig.state, asked)).toEqual({ type: "join" });
    rig.tell(answered("h")).nothingMore();
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
    want(rig.tell(answered("t", { occurrence_id: "o" })), { type: "step.answer", key: "t" });
    want(settle(rig, "r:a", success(1)), completed("a"), { type: "reply", triggers: [{ occurrence_id: "o" }] });
  });
  it("that fails is reported to its body alone", () => {
    const rig = ask(running(), "r:a", "t", { kind: "trigger", input: null }).skip();
    const result = { status: "err", error: { code: "closed", message: "no" } } as const;
    want(rig.tell({ type: "host.answered", call: "r:a", key: "t", result }), { type: "step.answer" });
    want(settle(rig, "r:a", success(1)), completed("a"), { type: "reply", triggers: [] });
  });
  it("of a nested batch is that batch's", () => {
    const rig = running();
    ask(rig, "r:a", "b", { kind: "batch", calls: [{ id: "x", tool: "tool:echo", args: null }] }).skip();
    ask(rig, "r:a/b/x", "t", { kind: "trigger", input: null }).skip();
    rig.tell({ ...answered("t", { occurrence_id: "o" }), call: "r:a/b/x" }).skip();
    const recorded = { type: "replies.record", key: "b", triggers: [{ occurrence_id: "o" }] } as const;
    want(settle(rig, "r:a/b/x", success(1)), completed("x"), recorded);
  });
});

it("a body that reuses a record has made progress: its resumes are counted anew", () => {
  const retry_policy = { type: "safe", max_attempts: 2, base_delay_ms: 0, max_delay_ms: 0 } as const;
  const rig = submit(Rig.open([tool("echo", { retry_policy })], { resume_pauses_ms: [0] }), "echo").skip();
  ask(rig, "r:a", "h", host).skip();
  rig.tell(answered("h")).skip();
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
