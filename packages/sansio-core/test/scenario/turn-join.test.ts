/** Messages that were to join a turn, and are gone by the time that it could take them. */
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { checkAll } from "../../src/check.ts";
import type { Event } from "../../src/kernel/vocabulary.ts";
import type { Options } from "../../src/kernel/options.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import { promptPlan } from "../../src/turn/plan.ts";
import { Rig } from "../rig.ts";

const usage = { input_tokens: 4, output_tokens: 1 };
const say = (request: string, when_busy: "queue" | "join" | "interrupt"): Event => ({
  type: "turn.submitted",
  request,
  hash: request,
  messages: [{ role: "user", content: request }],
  when_busy,
  // oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
  limits: { output_tokens: { limit: 1, then: "ask" } },
});
const answered: Event = {
  type: "model.answered",
  request: "t",
  n: 1,
  attempt: 1,
  pieces: [{ b: 0, type: "text", text: "Yes." }],
  finish: { reason: "stop" },
  usage,
  prompt: { messages: 1, hash: "h" },
  ms: 1,
};

const begun = (options: Partial<Options> = {}): Rig => {
  const rig = Rig.open([], { unpriced: "allow", ...options }, 2);
  const spec = { routes: [{ provider: "p", model: "m" }], shown: [] };
  rig.tell({ type: "agent.published", agent: "main", hash: "h", spec });
  return rig.tell(say("t", "queue")).skip();
};
const phase = ({ state }: Rig): string | undefined => state.conversation.running?.phase.type;
const leaves = (rig: Rig): Rig => rig.tell({ type: "request.cancelled", request: "other" }).skip();
const extended = (rig: Rig): Rig =>
  rig
    .tell({ type: "budget.decided", ask: 1, decision: "extend", add: { turn: { output_tokens: 100 } }, by: "p" })
    .skip();
const replyOf = ({ state }: Rig): unknown => state.requests.at("t");

const parked = (): Rig => begun().tell(say("other", "join")).tell(answered).skip();

describe("a turn that a budget holds up, while messages wait to join it", () => {
  it("ends with its answer where the messages are gone when a person decides", () => {
    const rig = extended(leaves(parked()));
    expect(replyOf(rig)).toMatchObject({ phase: "replying", turn: { status: "finished", text: "Yes." } });
    expect(checkAll(rig.state)).toBeUndefined();
  });
  it("is checked by its host before that end", () => {
    const rig = begun({ turn_check: true });
    rig.tell({ type: "turn.checked", request: "t", n: 1, verdict: { type: "go_on" } }).skip();
    rig.tell(say("other", "join")).tell(answered).skip();
    expect(extended(leaves(rig)).state.conversation.running?.phase).toMatchObject({ type: "checking", n: 1 });
  });
  it("takes them where they still wait", () => {
    const rig = extended(parked());
    expect(phase(rig)).toBe("asking");
    expect(promptPlan(rig.state, "t")?.entries.map(({ type }) => type)).toEqual(["user", "answer", "user"]);
  });
  it("knows its end in a snapshot", () => {
    const rig = leaves(parked());
    const restored = restore(snapshot(rig.state));
    expect(E.isRight(restored) && restored.right.conversation).toEqual(rig.state.conversation);
  });
});

describe("a model that was interrupted for messages which are gone", () => {
  it("is asked as before: what it had said is not shown behind the question", () => {
    const rig = begun().tell(say("other", "interrupt")).skip();
    const pieces = [{ b: 0, type: "text", text: "Ye" }] as const;
    rig.tell({ type: "model.stopped", request: "t", n: 1, attempt: 1, pieces, usage }).skip();
    expect(phase(rig)).toBe("parked");
    expect(promptPlan(extended(leaves(rig)).state, "t")?.entries.map(({ type }) => type)).toEqual(["user"]);
  });
});
