/** Sub-agents: processes that are turns, the part of the budget that they have, and how their end is told. */
import { successOutput } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import type { Limits } from "../../src/kernel/limit.ts";
import { seqsOf } from "../../src/turn/frame.ts";
import { messagesIn } from "../../src/turn/plan.ts";
import { defaultOptions } from "../../src/kernel/options.ts";
import type { Event, EventOf } from "../../src/kernel/vocabulary.ts";
import type { ProcessAwaitOutput, ProcessInput, ProcessRegistration } from "../../src/process/model.ts";
import type { Conversation } from "../../src/turn/model.ts";
import type { AnswerPart } from "../../src/turn/message.ts";
import { World } from "../link/world.ts";
import { cancel, start } from "../process/asking.ts";
import { tool } from "../rig.ts";

const session = "session:s";
const child = (n: number | string): string => `process:s/t/${n}`;
const prompt = { messages: 1, hash: "h" };
const spec = { routes: [{ provider: "p", model: "m" }], shown: [{ name: "sub", input_schema: {} }] };

type SessionTurn = Extract<ProcessInput, { readonly type: "session_turn" }>;

const taskOf = (create: object = {}, output: SessionTurn["output_contract"] = null): SessionTurn => ({
  type: "session_turn",
  create_request: { agent: "helper", ...create },
  turn_input: { messages: [{ role: "user", content: "find it" }] },
  output_contract: output,
});
const agentOf = (name: string, input: ProcessInput = taskOf()): ProcessRegistration => ({
  id: name,
  input,
  identity: { kind: "session_turn" },
  event_types: [],
  provenance: { originator: { type: "host" } },
});

const callSub = (i: number): AnswerPart => ({ type: "tool-call", id: `c${i}`, tool: "sub", args: {} });
const answered = (request: string, n: number, parts: readonly AnswerPart[], tokens = 10): Event => ({
  type: "model.answered",
  request,
  n,
  attempt: 1,
  pieces: parts.map((part, b) => ({ b, part })),
  finish: { reason: parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop" },
  usage: { input_tokens: tokens, output_tokens: 0 },
  prompt,
  ms: 1,
});
const text = (said: string): AnswerPart => ({ type: "text", text: said });

// oxlint-disable-next-line unicorn/no-thenable -- what follows when it is reached
const limitOf = (limit: number, then: "fail") => ({ limit, then });

/** A session whose model has asked for so many sub-agents, each of them a running body. */
class Family extends World {
  readonly #keys = new Map<string, number>();

  constructor(calls: number, limits: Limits = {}, protocol = 2) {
    super();
    const options = { crash_pauses_ms: [], unpriced: "allow" as const };
    this.open(session, [tool("sub", { scheduling: "parallel" })], options, protocol);
    this.tell(session, { type: "limits.set", limits: { session: limits } });
    this.#publish(session, "main");
    const messages = [{ role: "user", content: "go" }] as const;
    this.tell(session, { type: "turn.submitted", request: "t", hash: "h", messages, when_busy: "queue" });
    this.tell(session, answered("t", 1, [...Array(calls).keys()].map(callSub)));
  }

  #publish(scope: string, agent: string): void {
    this.tell(scope, { type: "agent.published", agent, hash: `h-${agent}`, spec });
  }

  conversation(scope = session): Conversation {
    return this.state(scope).conversation;
  }

  /** The i-th body asks for something. */
  ask(i: number, effect: EventOf<"effect.requested">["effect"], scope = session, call = `t:m1.${i}`): void {
    const n = (this.#keys.get(scope + call) ?? 0) + 1;
    this.#keys.set(scope + call, n);
    this.tell(scope, { type: "effect.requested", call, attempt: 1, run: 1, key: `k${n}`, hash: "h", effect });
  }

  /** The i-th body starts its sub-agent, whose agent is published where it lives. */
  start(i: number, input = taskOf(), name = `s/t/${i}`): this {
    const to = `process:${name}`;
    if (!this.states.has(to)) this.open(to, [], { unpriced: "allow" });
    this.ask(i, { kind: "message", to, message: start(agentOf(name, input)) });
    return this;
  }

  begin(i: number): this {
    this.deliver();
    this.#publish(child(i), "helper");
    return this;
  }

  /** The model of a sub-agent answers. */
  answer(i: number, said: string, tokens: number): this {
    return this.tell(child(i), answered("turn", 1, [text(said)], tokens));
  }

  /** The i-th body returns, and leaves its sub-agent to itself. */
  leave(i: number): this {
    const result = { type: "done", output: successOutput("ok") } as const;
    return this.tell(session, { type: "call.settled", call: `t:m1.${i}`, attempt: 1, run: 1, result, duration_ms: 1 });
  }

  end(i: number): ProcessAwaitOutput | undefined {
    const status = this.state(child(i)).process?.status;
    return status?.state === "running" ? undefined : status?.await_output;
  }

  limits(i: number): Limits {
    return this.conversation(child(i)).limits.session;
  }
}

describe("a sub-agent", () => {
  it("is a process whose work is one turn, in a scope of its own, and whose end is that of the turn", () => {
    const family = new Family(1).start(0).begin(0);
    expect(family.gave(child(0), "model.ask")).toMatchObject([
      { request: "turn", key: "process:s/t/0/turn:model:1.0", frame: "main" },
    ]);
    family.answer(0, "here it is", 5).deliver();
    expect(family.end(0)).toEqual({ type: "success", value: "here it is" });
    expect(family.gave(child(0), "reply")).toEqual([]);
    expect(family.state(child(0)).requests.size).toBe(0);
    expect(family.conversation().running?.used).toMatchObject({ input_tokens: 15, model_calls: 2 });
  });

  it("has the history that it was given before what it is asked, in the event that began it", () => {
    const history = [{ role: "assistant", content: "Earlier." }];
    const family = new Family(1).start(0, taskOf({ messages: history })).begin(0);
    const entries = family.conversation(child(0)).frames.get("main")?.entries ?? [];
    expect(entries).toMatchObject([{ type: "user", given: true }, { type: "user" }]);
    const [seq = 0] = entries.flatMap(seqsOf);
    const born = family.logs.get(child(0))?.[seq - 1] as Event;
    const said = [...messagesIn(born, true), ...messagesIn(born)];
    expect(said).toMatchObject([{ content: [{ text: "Earlier." }] }, { content: [{ text: "find it" }] }]);
  });

  it("ends as its turn does: with a value, a failure, a stop", () => {
    const output = { schema: { type: "object" } };
    const family = new Family(2)
      .start(0, taskOf({}, output))
      .begin(0)
      .start(1, taskOf({ agent: "nobody" }))
      .deliver();
    family.tell(child(0), { ...answered("turn", 1, [text('{"a":1}')]), verdict: { valid: true } } as Event);
    expect(family.end(0)).toEqual({ type: "success", value: { a: 1 } });
    family.tell(child(1), { type: "agent.missing", agent: "nobody" });
    expect(family.end(1)).toMatchObject({ type: "failure", class: "execution", code: "agent_unknown" });
    const other = new Family(1).start(0).begin(0);
    const cut = answered("turn", 1, [text("half")]) as EventOf<"model.answered">;
    other.tell(child(0), { ...cut, finish: { reason: "length" } });
    expect(other.end(0)).toMatchObject({ class: "resource_limit", code: "agent_incomplete", raw: "half" });
  });

  it("fails where its task is not one, and charges nothing", () => {
    const family = new Family(1, { total_tokens: { limit: 100 } }).start(0, { ...taskOf(), turn_input: {} }).deliver();
    expect(family.end(0)).toMatchObject({ type: "failure", code: "invalid_turn", class: "invalid_request" });
    expect(family.conversation().grants).toEqual([]);
  });

  it("is an engine's where it names no agent, or where the scope has no turns", () => {
    const family = new Family(1).start(0, { ...taskOf(), create_request: { subagent: {} } }).deliver();
    expect(family.gave(child(0), "engine.run")).toHaveLength(1);
    expect(family.conversation().grants).toEqual([]);
    const without = new Family(1);
    without.open(child(0), [], { turns: false });
    without.start(0).deliver();
    expect(without.gave(child(0), "engine.run")).toHaveLength(1);
    expect(without.conversation().grants).toEqual([]);
  });

  it("is an engine's in a scope of protocol 1, which is told of no grant", () => {
    const family = new Family(1, { total_tokens: { limit: 100 } });
    family.open(child(0), [], defaultOptions, 1);
    family.start(0).deliver();
    expect(family.gave(child(0), "engine.run")).toHaveLength(1);
    const received = family.logs.get(child(0))?.find(({ type }) => type === "message.received");
    expect(received).not.toHaveProperty("message.limits");
    expect(family.conversation().grants).toEqual([]);
  });
});

describe("a cancel", () => {
  it("of the process cancels its turn, whose end is the process's", () => {
    const family = new Family(1).start(0).begin(0);
    family.ask(0, { kind: "message", to: child(0), message: cancel("enough") });
    family.deliver();
    expect(family.gave(child(0), "model.stop")).toMatchObject([{ request: "turn", n: 1, attempt: 1 }]);
    expect(family.end(0)).toBeUndefined();
    const usage = { input_tokens: 3, output_tokens: 1 };
    family.tell(child(0), { type: "model.stopped", request: "turn", n: 1, attempt: 1, pieces: [], usage }).deliver();
    expect(family.end(0)).toEqual({ type: "cancelled", message: "sub-agent was cancelled" });
    expect(family.conversation().running?.used).toMatchObject({ total_tokens: 14 });
  });

  it("comes with the deletion of the session, whose ledger still hears what was used", () => {
    const family = new Family(1, { total_tokens: { limit: 100 } }).start(0).begin(0);
    family.tell(session, { type: "session.deleted" }).deliver();
    const usage = { input_tokens: 3, output_tokens: 1 };
    family.tell(child(0), { type: "model.stopped", request: "turn", n: 1, attempt: 1, pieces: [], usage }).deliver();
    expect(family.end(0)).toMatchObject({ type: "cancelled" });
    expect(family.conversation().grants).toEqual([]);
    const { used, running } = family.conversation();
    expect((used.total_tokens ?? 0) + (running?.used.total_tokens ?? 0)).toBe(14);
  });

  it("by an end from outside stops the turn, and what it has used is told when it is over", () => {
    const family = new Family(1, { total_tokens: { limit: 100 } }).start(0).begin(0);
    const await_output = { type: "success", value: "from outside" };
    const request = { event_type: "process.completed", payload: { await_output }, replay: { key: "done" } };
    family.tell(child(0), { type: "process.event_appended", request, payload_hash: "h" }).deliver();
    expect(family.end(0)).toMatchObject({ type: "success" });
    expect(family.conversation().grants).toHaveLength(1);
    const usage = { input_tokens: 3, output_tokens: 1 };
    family.tell(child(0), { type: "model.stopped", request: "turn", n: 1, attempt: 1, pieces: [], usage }).settle();
    expect(family.conversation().grants).toEqual([]);
    expect(family.conversation().running?.used).toMatchObject({ total_tokens: 14 });
  });
});

describe("a grant", () => {
  const limits: Limits = { total_tokens: { limit: 310 } };

  it("is an equal part of what is left, in either order, and together no more than that", () => {
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
    ]) {
      const family = new Family(3, limits);
      for (const i of order) family.start(i).deliver();
      for (const i of order)
        expect(family.limits(i)).toEqual({ total_tokens: { limit: 100 }, model_calls: { limit: 33 } });
    }
  });

  it("is what the sub-agent asks for, where that is less", () => {
    const family = new Family(2, limits)
      .start(0, taskOf({ limits: { total_tokens: { limit: 30 } } }))
      .start(1)
      .deliver();
    expect(family.limits(0)).toMatchObject({ total_tokens: { limit: 30 } });
    expect(family.limits(1)).toMatchObject({ total_tokens: { limit: 270 } });
  });

  it("fails, asks and wraps up as the limit does that it comes from", () => {
    const failing = limitOf(310, "fail");
    const family = new Family(1, { total_tokens: failing }).start(0).deliver();
    expect(family.limits(0)).toMatchObject({ total_tokens: limitOf(300, "fail") });
  });

  it("is set aside until the sub-agent ends; then what it used is charged, and the rest is free", () => {
    const family = new Family(2, limits).start(0).start(1).begin(0).begin(1);
    expect(family.conversation().grants.map(({ amounts }) => amounts.total_tokens)).toEqual([150, 150]);
    family.answer(0, "a", 7).deliver();
    expect(family.conversation().grants.map(({ name }) => name)).toEqual(["s/t/1"]);
    family.answer(1, "b", 8).deliver();
    expect(family.conversation().grants).toEqual([]);
    expect(family.conversation().running?.used).toMatchObject({ total_tokens: 25 });
  });

  it("stays with the session, and is charged to it, where the turn is over first", () => {
    const wanted = { limits: { total_tokens: { limit: 100 }, model_calls: { limit: 10 } } };
    const family = new Family(1, limits).start(0, taskOf(wanted)).begin(0).leave(0);
    family.tell(session, answered("t", 2, [text("done")]));
    expect(family.conversation()).toMatchObject({ running: undefined, grants: [{ name: "s/t/0", turn: "t" }] });
    family.answer(0, "late", 9).deliver();
    expect(family.conversation()).toMatchObject({ grants: [], used: { total_tokens: 29 } });
  });

  it("is one for a process that is started twice, and is free again where the process was over before", () => {
    const family = new Family(2, limits).start(0).begin(0).start(1, taskOf(), "s/t/0").deliver();
    expect(family.conversation().grants).toHaveLength(1);
    family.answer(0, "a", 7).deliver();
    family.start(1, taskOf(), "s/t/0");
    expect(family.conversation().grants).toHaveLength(1);
    family.deliver();
    expect(family.conversation().grants).toEqual([]);
    expect(family.conversation().running?.used).toMatchObject({ total_tokens: 17 });
  });

  it("is free again where the process is refused", () => {
    const family = new Family(2, limits).start(0).begin(0);
    const other = { ...taskOf(), turn_input: { messages: [{ role: "user", content: "another" }] } };
    family.answer(0, "a", 7).deliver();
    family.start(1, other, "s/t/0").deliver();
    const refused = family.gave(child(0), "message.answer").filter(({ outcome }) => outcome.status === "refused");
    expect(refused).toMatchObject([{ outcome: { code: "process_conflict" } }]);
    expect(family.conversation().grants).toEqual([]);
  });

  it("is exact over crashes of both, and over messages that come twice or not at all", () => {
    const family = new Family(2, limits).start(0).start(1);
    family.crash(session).deliverBadly([1, 2, 4, 7, 3]).settle();
    for (const i of [0, 1]) family.begin(i).answer(i, "a", 7);
    family.crash(child(0)).deliverBadly([3, 1, 6, 9, 2]).settle();
    expect(family.conversation().grants).toEqual([]);
    expect(family.conversation().running?.used).toMatchObject({ total_tokens: 24 });
  });

  it("parks the sub-agent in its own scope when it is used up, and a person's extension goes up to every level", () => {
    const family = new Family(1, limits).start(0).begin(0);
    family.tell(child(0), answered("turn", 1, [{ ...callSub(0), tool: "gone" } as AnswerPart], 300));
    const parked = family.conversation(child(0)).running?.phase;
    expect(parked).toMatchObject({ type: "parked", ask: 1, reached: [{ of: "session", what: "total_tokens" }] });
    const add = { session: { total_tokens: 50, cost: 9 } };
    family.tell(child(0), { type: "budget.decided", ask: 1, decision: "extend", add, by: "ada" }).deliver();
    expect(family.conversation(child(0)).running?.phase.type).toBe("asking");
    expect(family.conversation().grants).toMatchObject([{ amounts: { total_tokens: 350 } }]);
    expect(family.conversation().limits.session).toEqual({ total_tokens: { limit: 360 } });
  });

  it("ends the sub-agent where a person stops it, which its parent reads as a failure", () => {
    const family = new Family(1, limits).start(0).begin(0);
    family.tell(child(0), answered("turn", 1, [{ ...callSub(0), tool: "gone" } as AnswerPart], 300));
    family.tell(child(0), { type: "budget.decided", ask: 1, decision: "stop", by: "ada" }).deliver();
    expect(family.end(0)).toMatchObject({ class: "resource_limit", code: "agent_budget" });
    expect(family.conversation().running?.used).toMatchObject({ total_tokens: 310 });
  });

  it("is refused in a scope of an older protocol", () => {
    const family = new Family(1);
    family.open(child("x"), [], defaultOptions, 1);
    const { hash, registration } = start(agentOf("s/t/x"));
    const message = { type: "process.start", hash, registration, limits: {} } as const;
    const event = { type: "message.received", from: session, link: 1, number: 1, heard: 0, message } as const;
    expect(family.offer(child("x"), event)).toBe("needs_protocol_2");
  });
});
