/** Tests that what an attempt has used is counted once, by whichever event tells it first. */
import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../src/turn/agent.ts";
import type { Event, EventOf } from "../../src/kernel/vocabulary.ts";
import type { Options } from "../../src/kernel/options.ts";
import { checkAll } from "../../src/check.ts";
import { Rig } from "../rig.ts";
import { crash } from "./words.ts";

const first = { request: "t", n: 1, attempt: 1 } as const;
const prompt = { messages: 1, hash: "h" };
const usage = { input_tokens: 4, output_tokens: 1 };

/** A session whose model is asked. */
const asked = (route: Partial<AgentSpec["routes"][number]> = {}, options: Partial<Options> = {}): Rig => {
  const rig = Rig.open([], { unpriced: "allow", ...options }, 2);
  const spec = { routes: [{ provider: "p", model: "m", ...route }], shown: [] };
  rig.tell({ type: "prices.published", currency: "EUR", prices: { m: { input: 1, output: 1 } } });
  rig.tell({ type: "agent.published", agent: "main", hash: "h", spec });
  const messages = [{ role: "user", content: "hi" }] as const;
  return rig.tell({ type: "turn.submitted", request: "t", hash: "h", messages, when_busy: "queue" }).skip();
};

const answer = { pieces: [{ b: 0, type: "text", text: "yes" }], finish: { reason: "stop" }, usage } as const;
const late: Event = { type: "model.late", ...first, usage };
const answered = (attempt: number): Event => ({ type: "model.answered", ...first, attempt, ...answer, prompt, ms: 1 });
const failed = (more: Partial<EventOf<"model.failed">>): Event => ({
  type: "model.failed",
  ...first,
  class: "transport",
  message: "no",
  retry_after_ms: 0,
  ...more,
  prompt,
  ms: 1,
});

describe("what an attempt has used", () => {
  it("is counted once where its provider tells it late, and then the host resolves it with its answer", () => {
    const rig = crash(asked({ recovery: "ask" }, { model_resolver: true }))
      .skip()
      .tell(late);
    rig.tell({ type: "model.resolved", ...first, outcome: { type: "answer", ...answer } }).skip();
    expect(rig.state.conversation.used).toMatchObject({ input_tokens: 4, output_tokens: 1, model_calls: 1 });
    expect(checkAll(rig.state)).toBeUndefined();
  });
  it("is counted once where the host resolves it first", () => {
    const rig = crash(asked({ recovery: "ask" }, { model_resolver: true })).skip();
    rig.tell({ type: "model.resolved", ...first, outcome: { type: "answer", ...answer } }).skip();
    rig.refuses(late, "already_answered");
    expect(rig.state.conversation.used).toMatchObject({ input_tokens: 4, output_tokens: 1 });
  });
  it("is told by a failure that says nothing was used, and not once more", () => {
    const rig = asked()
      .tell(failed({ usage: { input_tokens: 0, output_tokens: 0 } }))
      .skip();
    rig.refuses(late, "already_answered");
    rig.tell(answered(2)).skip();
    expect(rig.state.conversation.used).toMatchObject({ input_tokens: 4, total_tokens: 5 });
  });
  it("is told late of a failure that does not say", () => {
    const rig = asked().tell(failed({})).skip().tell(late).tell(answered(2)).skip();
    expect(rig.state.conversation.used).toMatchObject({ input_tokens: 8, total_tokens: 10, model_calls: 1 });
  });
});
