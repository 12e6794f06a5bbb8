/** Turns: tools and budgets, attempts that fail or are lost, frames and compactions, and messages that come meanwhile. */
import { successOutput } from "@pawl/tool-value";
import type { AgentSpec } from "../../src/turn/agent.ts";
import type { WhenBusy } from "../../src/turn/event.ts";
import type { AnswerPart } from "../../src/turn/message.ts";
import type { Usage } from "../../src/turn/budget.ts";
import type { Options } from "../../src/kernel/options.ts";
import type { Event, EventOf } from "../../src/kernel/vocabulary.ts";
import { start } from "../process/asking.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { acked, ask, cancelRequest, settle } from "./event.ts";
import { Carriage } from "./scenario-process.ts";
import { Tape, tool } from "./tape.ts";

const hash = (seed: string): string => seed.padEnd(64, "0").slice(0, 64);

const publish = (agent: string, spec: Partial<AgentSpec> = {}): Event => ({
  type: "agent.published",
  agent,
  hash: hash(agent === "main" ? "a1" : "b2"),
  spec: { routes: [{ provider: "p", model: "m" }], shown: [{ name: "look", input_schema: {} }], ...spec },
});

const say = (request: string, text: string, more: Partial<EventOf<"turn.submitted">> = {}): Event => ({
  type: "turn.submitted",
  request,
  hash: hash("c3"),
  messages: [{ role: "user", content: text }],
  when_busy: "queue",
  ...more,
});
const sayMeanwhile = (request: string, when_busy: WhenBusy): Event => say(request, `${when_busy} me`, { when_busy });

/** `t1 2.1` is the first attempt of the second model call of turn t1. */
const attemptOf = (text: string): { readonly request: string; readonly n: number; readonly attempt: number } => {
  const [request = "", at = "1.1"] = text.split(" ");
  const [n = 1, attempt = 1] = at.split(".").map(Number);
  return { request, n, attempt };
};

const prompt = { messages: 2, hash: "d4".padEnd(32, "0") };

const answer = (of: string, parts: readonly AnswerPart[], usage: Usage = {}): Event => ({
  type: "model.answered",
  ...attemptOf(of),
  pieces: parts.map((part, b) => ({ b, part })),
  finish: { reason: parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop" },
  usage,
  prompt,
  ms: 900,
});
const answerText = (of: string, text: string): Event => answer(of, [{ type: "text", text }]);
const callLook = (id: string): AnswerPart => ({ type: "tool-call", id, tool: "look", args: { at: "it" } });

const streamed = (of: string, text: string): Event => ({
  type: "model.streamed",
  ...attemptOf(of),
  pieces: [{ b: 0, type: "text", text }],
});
const stopped = (of: string, text: string): Event => ({
  type: "model.stopped",
  ...attemptOf(of),
  pieces: [{ b: 0, text }],
});
const fail = (of: string, kind: EventOf<"model.failed">["class"]): Event => ({
  type: "model.failed",
  ...attemptOf(of),
  class: kind,
  message: "no",
  prompt,
  ms: 5,
});
const reopened = (tape: Tape, epoch: number): Event => {
  const { options, protocol } = tape.state.scope;
  return { type: "scope.opened", epoch, owner: `d${epoch}`, protocol, options };
};

const begun = (options: Partial<Options> = {}, spec: Partial<AgentSpec> = {}): Tape =>
  Tape.open([tool("look")], options).tell(publish("main", spec));

/** A budget is reached between two model calls: a person extends it, and the turn goes on where it stood. */
export const toolsAndBudget = (): Tape => {
  const tape = begun();
  tape.tell({ type: "prices.published", currency: "EUR", prices: { m: { input: 3000, output: 15_000 } } });
  tape.tell({ type: "limits.set", limits: { session: { cost: { limit: 1_000_000 } } }, by: "user:ada" });
  tape.tell(say("t1", "look at it"), "turn_started t1", "model.ask t1 1.1 fresh", "model_asked t1");
  const used = { input_tokens: 300, output_tokens: 20 };
  tape
    .after(900)
    .tell(answer("t1", [callLook("x")], used), "model_answered t1", "call_started m1.0", "execute t1:m1.0 1.1");
  tape.refuses(answer("t1", [callLook("x")]), "already_answered");
  tape.tell(settle("t1:m1.0", successOutput({ seen: true })), "call_completed m1.0", "turn_parked t1");
  const decided = { type: "budget.decided", ask: 1, decision: "extend", by: "user:ada" } as const;
  tape.refuses({ ...decided, add: { session: { cost: 1 } } }, "extension_too_small");
  tape.after(60_000).tell(
    { ...decided, add: { session: { cost: 1_000_000 } } },
    "turn_resumed t1",
    "model.ask t1 2.1 fresh",
    "model_asked t1",
  );
  tape.refuses(decided, "stale_decision");
  tape.tell(answerText("t1 2.1", "I saw it."), "model_answered t1", "turn_ended t1", "reply t1");
  return tape.tell(acked("t1"));
};

/** An attempt fails and is made again, one is lost and gone on with, and one is heard of late. */
export const attempts = (): Tape => {
  const routes = [
    { provider: "p", model: "m", fetch: true, continue: true },
    { provider: "q", model: "m2", recovery: "ask" as const },
  ];
  const tape = begun({ model_resolver: true }, { routes });
  tape.tell(say("t1", "tell"), "turn_started t1", "model.ask t1 1.1 fresh", "model_asked t1");
  tape.tell({ type: "model.identified", ...attemptOf("t1 1.1"), provider_id: "resp_1" });
  tape.tell(reopened(tape, 2), "model.ask t1 1.2 fetch", "model_reset t1", "model_asked t1");
  tape.tell(fail("t1 1.2", "not_found"), "model.ask t1 1.3 fresh", "model_reset t1", "model_asked t1");
  tape.tell(streamed("t1 1.3", "Once "));
  tape.tell(reopened(tape, 3));
  tape.tick(1000, "model.ask t1 1.4 continue", "model_reset t1", "model_asked t1");
  tape.tell(fail("t1 1.4", "overloaded"), "model_failed t1");
  tape.tick(1000, "model.ask t1 1.5 continue", "model_reset t1", "model_asked t1");
  const quota = ["model_failed t1", "model.ask t1 1.6 fresh", "model_reset t1", "model_asked t1"];
  tape.tell(fail("t1 1.5", "quota"), ...quota);
  tape.tell(reopened(tape, 4), "model.resolve t1 1.6");
  tape.tell({ type: "model.late", ...attemptOf("t1 1.1"), usage: { input_tokens: 9, output_tokens: 1 } });
  tape.refuses({ type: "model.late", ...attemptOf("t1 1.1") }, "already_answered");
  const again: Event = { type: "model.resolved", ...attemptOf("t1 1.6"), outcome: { type: "again" }, by: "ops" };
  tape.tell(again, "model.ask t1 1.7 fresh", "model_reset t1", "model_asked t1");
  return tape.tell(answerText("t1 1.7", "Once upon."), "model_answered t1", "turn_ended t1", "reply t1");
};

const goOn = (n: number): Event => ({ type: "turn.checked", request: "t1", n, verdict: { type: "go_on" } });

/** The host checks, a compaction is asked for, and a control goes on in another frame, whose agent is loaded first. */
export const framesAndChecks = (): Tape => {
  const tape = begun({ turn_check: true }, { compaction: { keep_groups: 1 } });
  const messages = [{ role: "user", content: "Earlier." }] as const;
  tape.tell({ type: "frame.opened", frame: "main", messages, current: true, by: "import" });
  tape.tell({ type: "compaction.requested", by: "user:ada" });
  tape.tell(say("t1", "go"), "turn_started t1", "turn.check t1 1 before_model");
  tape.refuses({ type: "frame.opened", frame: "f", messages, current: false }, "frame_in_use");
  tape.tell(goOn(1), "model.ask t1 1.1 fresh", "model_asked t1");
  tape.tell(answerText("t1 1.1", "It was early."), "model_answered t1", "compacted t1", "turn.check t1 2 before_model");
  tape.tell(goOn(2), "model.ask t1 2.1 fresh", "model_asked t1");
  const calls = ["model_answered t1", "call_started m2.0", "execute t1:m2.0 1.1"];
  tape.tell(answer("t1 2.1", [callLook("x")]), ...calls);
  const nodes = [{ type: "history", mode: "all" }, { type: "message", message: { role: "user", content: "Note." } }];
  const control = { type: "switch_agent_frame", frame_id: "bills", initial_nodes: nodes, task: "pay it" } as const;
  const output = { ...successOutput(1), control };
  tape.tell(settle("t1:m2.0", output), "call_completed m2.0", "frame_switched t1", "turn.check t1 3 before_model");
  tape.tell(goOn(3), "model.ask t1 3.1 fresh", "model_asked t1");
  tape.tell(answerText("t1 3.1", "Paid."), "model_answered t1", "turn.check t1 3 before_end");
  tape.tell(goOn(3), "turn_ended t1", "reply t1").tell(acked("t1"));
  tape.tell(say("t2", "pay", { agent: "books" }), "turn_started t2", "agent.load");
  return tape.tell({ type: "agent.missing", agent: "books" }, "turn_ended t2", "reply t2");
};

/** Messages that come while a turn runs: one waits, one joins, one interrupts, one replaces. */
export const queue = (): Tape => {
  const tape = begun();
  tape.tell(say("t1", "tell me"), "turn_started t1", "model.ask t1 1.1 fresh", "model_asked t1");
  tape.tell(sayMeanwhile("t2", "queue")).tell(sayMeanwhile("t3", "join"));
  tape.refuses(sayMeanwhile("t4", "refuse"), "session_busy");
  tape.tell(streamed("t1 1.1", "Long "));
  tape.tell(sayMeanwhile("t4", "interrupt"), "model.stop t1 1.1");
  const joined = ["turn_ended t3", "reply t3", "turn_ended t4", "reply t4", "messages_taken t1"];
  tape.tell(stopped("t1 1.1", "ago"), ...joined, "model.ask t1 2.1 fresh", "model_asked t1");
  tape.tell(sayMeanwhile("t5", "replace"), "model.stop t1 2.1");
  const ended = ["turn_ended t1", "reply t1", "turn_started t5", "model.ask t5 1.1 fresh", "model_asked t5"];
  tape.tick(1000, ...ended);
  tape.tell(cancelRequest("t2"), "turn_ended t2", "reply t2");
  return tape.tell(answerText("t5 1.1", "Yes."), "model_answered t5", "turn_ended t5", "reply t5");
};

// A sub-agent: the session that starts it, and the process that it is.

const helper: ProcessRegistration = {
  id: "golden/t1/m1.0",
  input: {
    type: "session_turn",
    create_request: { agent: "helper", limits: { cost: { limit: 700_000 } }, messages: [{ role: "user", content: "Earlier." }] },
    turn_input: { messages: [{ role: "user", content: "find it" }] },
    output_contract: null,
  },
  identity: { kind: "session_turn", label: "helper" },
  event_types: [],
  provenance: { originator: { type: "host" } },
};

class Family extends Carriage {
  constructor() {
    const session = begun();
    const child = Tape.open([tool("look")], {}, "process:golden/t1/m1.0").tell(publish("helper"));
    super(session, child);
    for (const tape of [session, child])
      tape.tell({ type: "prices.published", currency: "EUR", prices: { m: { input: 3000, output: 15_000 } } });
    session.tell({ type: "limits.set", limits: { session: { cost: { limit: 2_000_000 } } }, by: "user:ada" });
    session.tell(say("t1", "find it"), "turn_started t1", "model.ask t1 1.1 fresh", "model_asked t1");
    session.note(answer("t1", [callLook("x")], { input_tokens: 100, output_tokens: 10 }));
    session.note(ask("t1:m1.0", "start", { kind: "message", to: child.state.scope.id, message: start(helper) }));
    this.deliver();
  }

  await(): this {
    const message = { type: "process.await", wait: "w" } as const;
    this.first.note(ask("t1:m1.0", "await", { kind: "message", to: this.second.state.scope.id, message }));
    this.first.note(ask("t1:m1.0", "w", { kind: "wait", wait: "w" }));
    return this.deliver();
  }
}

/** It uses up its grant, a person extends that, and its parent is charged what it has used. */
const lived = (): Family => {
  const family = new Family().await();
  const child = family.second;
  child.note(answer("turn", [callLook("y")], { input_tokens: 240, output_tokens: 1 }));
  child.note(settle("turn:m1.0", successOutput({ seen: true })));
  const add = { turn: { cost: 500_000 }, session: { cost: 500_000 } };
  child.after(500).note({ type: "budget.decided", ask: 1, decision: "extend", add, by: "user:ada" });
  family.deliver();
  child.note(answer("turn 2.1", [{ type: "text", text: "Found." }], { input_tokens: 9, output_tokens: 1 }));
  family.deliver().first.note(settle("t1:m1.0", successOutput("Found.")));
  family.first.note(answerText("t1 2.1", "It is found."));
  return family;
};

/** It is asked to end in mid-answer; and its session is deleted. */
const orphaned = (): Family => {
  const family = new Family();
  family.second.note(streamed("turn 1.1", "Half "));
  family.first.note({ type: "session.deleted" });
  family.deliver().second.note(stopped("turn 1.1", "an answer"));
  return family.deliver();
};

export const parentOfAgent = (): Tape => lived().first;
export const subAgent = (): Tape => lived().second;
export const deletedParent = (): Tape => orphaned().first;
export const orphanedAgent = (): Tape => orphaned().second;
