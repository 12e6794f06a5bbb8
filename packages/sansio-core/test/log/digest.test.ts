import { type Json, successOutput } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import type { TurnEnd } from "../../src/turn/model.ts";
import type { CallRef, Command, CommandType } from "../../src/kernel/vocabulary.ts";
import { digest, digestOf, hasDigest, initial } from "../../src/machine.ts";
import type { FlowEnd, FlowExecutionEvent } from "../../src/flow/model.ts";
import type { WakeDelivery } from "../../src/process/append.ts";
import { createTask } from "../../src/run/task.ts";

type Sample<T extends CommandType> = Required<Extract<Command, { readonly type: T }>>;

const call = "r:c1" as CallRef;
const run = { call, attempt: 1, run: 2 };
const output = successOutput("out");
const reply = { call_id: "c1", tool: "t", args: 1, output, duration_ms: 3 };
const replies = { replies: [reply], triggers: ["fired"] };
const wake: WakeDelivery = {
  target: { session_id: "s" } as never,
  process_id: "p",
  sequence: 4,
  event_type: "e",
  input: "in",
  dedupe_key: "d",
};

const flow: FlowEnd = {
  ending: { type: "completed", output: "out" },
  bindings: {},
  steps_executed: 1,
  step_counter: 1,
};
const flowStart: FlowExecutionEvent = { kind: "flow_start", flow_name: "F", backend: "b", timestamp_ms: 1 };
const task = createTask({ id: "t", kind: "k", display_name: "n", spec: null }, "s", 1);

const turnEnd: TurnEnd = { turn: "r", frame: "main", used: {}, status: "finished", text: "done" };

/** One command of each type, with every field that it may have. */
const samples: { readonly [T in CommandType]: Sample<T> } = {
  "hook.run": { type: "hook.run", call, phase: "after", tool: "t", args: 1, output, duration_ms: 3 },
  "args.check": { type: "args.check", call, tool_id: "i", args: 1 },
  "tool.prepare": { type: "tool.prepare", call, tool_id: "i", args: 1 },
  "place.take": { type: "place.take", call, attempt: 2 },
  "tool.execute": {
    type: "tool.execute",
    ...run,
    tool_id: "i",
    tool: "t",
    args: 1,
    payload: 2,
    max_attempts: 3,
    recovery: "rerunnable",
    cause: "owner_lost",
  },
  "tool.cancel": { type: "tool.cancel", ...run },
  "step.run": { type: "step.run", ...run, key: "k", recovery: "once", try: 2 },
  "step.answer": { type: "step.answer", ...run, key: "k", seq: 5, index: 0, value: 4 },
  "stream.answer": { type: "stream.answer", ...run, key: "k" },
  "host.request": { type: "host.request", ...run, key: "k", name: "n", input: 1 },
  "outcome.resolve": { type: "outcome.resolve", call, cause: "owner_lost", tool: "t" },
  "result.project": { type: "result.project", call, tool: "t", output },
  "external.cancel": { type: "external.cancel", call, key: "k" },
  "replies.record": { type: "replies.record", call, key: "k", ...replies },
  reply: { type: "reply", request: "r", ...replies, flow, turn: turnEnd },
  "agent.load": { type: "agent.load", agent: "main" },
  "model.ask": {
    type: "model.ask",
    request: "r",
    n: 1,
    attempt: 2,
    kind: "answer",
    key: "s/r:model:1.1",
    frame: "main",
    agent: 3,
    route: 0,
    mode: "fresh",
    provider_id: "resp_9",
    tools: true,
    max_output_tokens: 100,
  },
  "model.stop": { type: "model.stop", request: "r", n: 1, attempt: 2 },
  "model.resolve": {
    type: "model.resolve",
    request: "r",
    n: 1,
    attempt: 2,
    cause: "owner_lost",
    provider_id: "resp_9",
  },
  "turn.check": { type: "turn.check", request: "r", n: 1, at: "before_end" },
  "turn.observe": { type: "turn.observe", request: "r", what: "turn_started" },
  "lambda.apply": { type: "lambda.apply", request: "r", id: "flow:r//0", name: "l", target: "x", input: "1" },
  "flow.observe": { type: "flow.observe", request: "r", event: flowStart },
  observe: {
    type: "observe",
    what: "call_completed",
    call,
    tool: "t",
    call_id: "c1",
    args: 1,
    output,
    cause: "owner_lost",
    duration_ms: 3,
    crash: { count: 2, resumes_in_ms: 5, step: "k" },
    decided: { decision: "approved", by: "ann" },
  },
  send: { type: "send", to: "process:p", link: 1, number: 2, heard: 0, message: { type: "link.closed" }, protocol: 2 },
  "message.answer": {
    type: "message.answer",
    to: "process:p",
    link: 1,
    number: 2,
    outcome: { status: "accepted", value: 1 },
    protocol: 2,
  },
  "wake.deliver": { type: "wake.deliver", key: "k", wake },
  "env.load": { type: "env.load", process: "p", env_ref: "e" },
  "engine.run": { type: "engine.run", process: "p" },
  "engine.cancel": { type: "engine.cancel", process: "p" },
  "process.observe": {
    type: "process.observe",
    what: "ended",
    process: "p",
    sequence: 1,
    event_type: "e",
    payload: 1,
    state: "completed",
  },
  "permit.take": { type: "permit.take", run: "bg_1" },
  "permit.release": { type: "permit.release", run: "bg_1" },
  "spawn.answer": { type: "spawn.answer", run: "bg_1", answer: { status: "started", task: "t" } },
  "artifacts.write": { type: "artifacts.write", process: "p", run: "bg_1", attempt: 1, outcome: { type: "canceled" } },
  "session.tell": { type: "session.tell", key: "k", text: "t", schedule: "s" },
  "task.observe": { type: "task.observe", what: "created", task },
  "run.observe": { type: "run.observe", process: "p", attempt: 1 },
  "schedule.next": { type: "schedule.next", schedule: "s", cron_expression: "* * * * *", timezone: "UTC", after: 5 },
  "schedule.answer": { type: "schedule.answer", schedule: "s", answer: { status: "refused", message: "no" } },
  "probe.run": { type: "probe.run", schedule: "s", fire: 1, tool: "t", arguments: 1 },
  "deletion.report": { type: "deletion.report", orphaned: ["p"], preserved: ["q"] },
};

const { cause: _cause, crash: _crash, decided: _decided, ...observed } = samples.observe;
const { try: _try, ...firstTry } = samples["step.run"];

/** Without the fields that commands of protocol 1 do not have. */
const { turn: _turn, ...reply1 } = samples.reply;
const since2 = [
  "place.take",
  "stream.answer",
  "agent.load",
  "model.ask",
  "model.stop",
  "model.resolve",
  "turn.check",
  "turn.observe",
];
const samplesOf1: { readonly [type: string]: Command } = Object.fromEntries(
  Object.entries<Command>({ ...samples, reply: reply1, observe: observed, "step.run": firstTry }).filter(
    ([type]) => !since2.includes(type),
  ),
);

/** Values stand in the events, and the protocol in the scope: the digest does not look at them in a command. */
const values = new Set([
  "protocol",
  "args",
  "payload",
  "input",
  "output",
  "duration_ms",
  "text",
  "arguments",
  "provider_id",
]);
const ofAll = (commands: readonly Command[]): string => digestOf(1, commands, undefined);

const ofReplies = (...all: readonly object[]): string => ofAll([{ ...samples.reply, replies: all } as Command]);

/** Another value of the same kind. */
const changed = (value: unknown): unknown => {
  if (typeof value === "number") return value + 1;
  return typeof value === "string" ? `${value}x` : undefined;
};

describe("the digest", () => {
  for (const sample of Object.values(samples)) {
    it(`tells ${sample.type} apart by each of its fields that is no value`, () => {
      const before = ofAll([sample]);
      for (const [field, value] of Object.entries(sample) as [string, Json][]) {
        const other = changed(value);
        if (field === "type" || (other === undefined && !values.has(field))) continue;
        const after = ofAll([{ ...sample, [field]: other } as Command]);
        expect([field, after === before]).toEqual([field, values.has(field)]);
      }
    });
  }

  it("looks at whose replies there are and how each ended, and not at what they say", () => {
    const failed = { ...reply, output: { outcome: { status: "cancelled" } } };
    expect(ofReplies({ ...reply, output: successOutput("else"), args: 2, duration_ms: 9 })).toBe(ofReplies(reply));
    const others = [
      ofReplies(),
      ofReplies(reply, reply),
      ofReplies(failed),
      ofReplies({ ...reply, call_id: "c2" }),
      ofReplies(failed, reply),
      ofReplies(reply, failed),
    ];
    expect(new Set([ofReplies(reply), ...others]).size).toBe(7);
  });

  it("looks at what a message is, what became of one, and what a wake is about", () => {
    const message = { type: "process.await", wait: "w" } as const;
    expect(ofAll([{ ...samples.send, message }])).not.toBe(ofAll([samples.send]));
    const outcome = { status: "refused", code: "gone", message: "" } as const;
    expect(ofAll([{ ...samples["message.answer"], outcome }])).not.toBe(ofAll([samples["message.answer"]]));
    const report = samples["deletion.report"];
    const reports = [
      report,
      { ...report, orphaned: [] },
      { ...report, preserved: ["p"] },
      { ...report, orphaned: ["q", "p"] },
    ];
    expect(new Set(reports.map((one) => ofAll([one]))).size).toBe(4);
    const ended = { ...samples["task.observe"], task: { ...task, state: "failed" } } as const;
    expect(ofAll([ended])).not.toBe(ofAll([samples["task.observe"]]));
    const failed = { type: "failed", error: { kind: "error", message: "" } } as const;
    expect(ofAll([{ ...samples["artifacts.write"], outcome: failed }])).not.toBe(ofAll([samples["artifacts.write"]]));
    const later = { ...samples["wake.deliver"], wake: { ...wake, sequence: 5 } };
    expect(ofAll([later])).not.toBe(ofAll([samples["wake.deliver"]]));
  });

  it("tells types, orders, counts, and where one text ends and the next begins", () => {
    const all = Object.values(samples);
    expect(new Set(all.map((command) => ofAll([command]))).size).toBe(all.length);
    expect(ofAll([all[0] as Command, all[1] as Command])).not.toBe(ofAll([all[1] as Command, all[0] as Command]));
    const one: Command = { type: "external.cancel", call: "ab" as CallRef, key: "c" };
    expect(ofAll([{ ...one, call: "a" as CallRef, key: "bc" }])).not.toBe(ofAll([one]));
    expect(ofAll([{ ...one, key: "c\0" }])).not.toBe(ofAll([one]));
    expect(ofAll([{ ...one, key: "c\u{10000}" }])).not.toBe(ofAll([{ ...one, key: "c\u{20000}" }]));
  });

  it("looks at the next deadline, when it is and when it was set, and at the protocol", () => {
    const at = 1_763_459_854_000;
    const digests = [
      digestOf(1, [], undefined),
      digestOf(1, [], { at, birth: 1 }),
      digestOf(1, [], { at: at + 1, birth: 1 }),
      digestOf(1, [], { at: at + 2 ** 32, birth: 1 }),
      digestOf(1, [], { at, birth: 2 }),
      digestOf(2, [], undefined),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });

  /** Frozen: protocol 1 has had these from its first day. */
  it("of protocol 1 is this", () => {
    expect(digestOf(1, [], undefined)).toBe("fc7adab0ce05620c");
    expect(digestOf(1, Object.values(samplesOf1), { at: 1_763_459_854_000, birth: 7 })).toBe("879d26db76ed4114");
  });

  it("is 16 digits, and known again without its text", () => {
    const state = { ...initial("session:s"), scope: { ...initial("session:s").scope, protocol: 1 } };
    for (let i = 0; i < 1000; i++) {
      const commands = [{ ...samples["step.run"], attempt: i }];
      const digits = digest({ state, commands });
      expect(digits).toMatch(/^[0-9a-f]{16}$/);
      expect(hasDigest({ state, commands }, digits)).toBe(true);
      expect(hasDigest({ state, commands: [] }, digits)).toBe(false);
      expect(hasDigest({ state, commands }, digits.toUpperCase())).toBe(!/[a-f]/.test(digits));
    }
  });
});
