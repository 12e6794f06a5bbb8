/**
 * The digest of what an event produced: 64 bits over its commands, in their order, and over the next deadline. It
 * stands beside the event in the log, so that replay finds the first event where today's code acts otherwise.
 *
 * It tells commands apart by what they are and whom they are for, never by the values they carry: those stand in the
 * events. Its form belongs to the protocol, and is frozen with it: fields, their order, the numbers and constants
 * below. Another form is another protocol's, and stands beside this one. It is no hash against forgery: the chain is.
 */
import type { Command, Replies } from "./command.ts";
import type { Transition } from "../core.ts";
import type { Deadline } from "./deadline.ts";
import { absurd } from "./error.ts";
import type { FlowExecutionEvent } from "../flow/event.ts";
import { nextDeadline } from "./state.ts";

/** What each command begins with. A number that was used once is never given to another. */
const tags: { readonly [T in Command["type"]]: number } = {
  "hook.run": 1,
  "args.check": 2,
  "tool.prepare": 3,
  "tool.execute": 4,
  "tool.cancel": 5,
  "step.run": 6,
  "step.answer": 7,
  "host.request": 8,
  "outcome.resolve": 9,
  "result.project": 10,
  "external.cancel": 11,
  "replies.record": 12,
  reply: 13,
  observe: 14,
  send: 15,
  "message.answer": 16,
  "wake.deliver": 17,
  "env.load": 18,
  "engine.run": 19,
  "engine.cancel": 20,
  "process.observe": 21,
  "deletion.report": 22,
  "lambda.apply": 23,
  "flow.observe": 24,
  "permit.take": 40,
  "permit.release": 41,
  "spawn.answer": 42,
  "artifacts.write": 43,
  "session.tell": 44,
  "task.observe": 45,
  "run.observe": 46,
  "schedule.next": 47,
  "schedule.answer": 48,
  "probe.run": 49,
};

const absent = -1;
const pairs: readonly string[] = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));
const pair = (word: number, shift: number): string => pairs[(word >>> shift) & 0xff] as string;
const hex = (word: number): string => pair(word, 24) + pair(word, 16) + (pair(word, 8) + pair(word, 0));

/** The word that eight digits stand for; NaN, which is no word, where they are no digits. */
const wordAt = (digits: string, from: number): number => {
  let word = 0;
  let beyond = 0;
  for (let i = from; i < from + 8; i++) {
    const unit = digits.charCodeAt(i);
    const digit = unit < 0x3a ? unit - 0x30 : unit - 0x57;
    word = (word << 4) | digit;
    beyond |= digit & ~0xf;
  }
  return beyond === 0 ? word : NaN;
};

const avalanche = (word: number): number => {
  const x = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  const y = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return y ^ (y >>> 16);
};

/** Two lanes of 32 bits. A word changes each of them one to one, so that what differs in one word stays apart. */
class Lanes {
  #a: number;
  #b: number;

  constructor(protocol: number) {
    this.#a = 0x243f_6a88 ^ protocol;
    this.#b = 0x85a3_08d3 ^ protocol;
  }

  word(word: number): this {
    const a = Math.imul(this.#a ^ word, 0x9e37_79b1);
    const b = Math.imul(this.#b ^ word, 0x85eb_ca77);
    this.#a = a ^ (a >>> 15);
    this.#b = b ^ (b >>> 13);
    return this;
  }

  number(n: number): this {
    return this.word(n | 0).word((n / 0x1_0000_0000) | 0);
  }

  /** Its length, then two units a word. */
  text(text: string): this {
    const { length } = text;
    const even = length & ~1;
    this.word(length);
    for (let i = 0; i < even; i += 2) this.word(text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16));
    return even === length ? this : this.word(text.charCodeAt(even));
  }

  optional(text: string | undefined): this {
    return text === undefined ? this.word(absent) : this.text(text);
  }

  texts(texts: readonly string[]): this {
    this.word(texts.length);
    for (const text of texts) this.text(text);
    return this;
  }

  run({ call, attempt, run }: { readonly call: string; readonly attempt: number; readonly run: number }): this {
    return this.text(call).number(attempt).number(run);
  }

  /** Of triggers, which are values, there is only their number. */
  replies({ replies, triggers }: Replies): this {
    this.word(replies.length).word(triggers.length);
    for (const { call_id, output } of replies) this.text(call_id).text(output.outcome.status);
    return this;
  }

  get high(): number {
    return avalanche(this.#a ^ Math.imul(this.#b, 0xc2b2_ae3d));
  }
  get low(): number {
    return avalanche(this.#b ^ Math.imul(this.high, 0x27d4_eb2f));
  }
}

const writeFlowEvent = (lanes: Lanes, event: FlowExecutionEvent): Lanes => {
  if (event.kind === "step_start" || event.kind === "step_complete") {
    return lanes.text(event.step_name).number(event.step_index).optional(event.branch_path);
  }
  return event.kind === "flow_complete" ? lanes.number(event.steps_executed) : lanes;
};

type LongWork = Extract<
  Command,
  {
    readonly type: `permit.${string}` | `schedule.${string}` | `session.${string}` | `task.${string}` | `run.${string}`;
  }
>;

type OfRuns = Extract<Command, { readonly type: "spawn.answer" | "artifacts.write" | "probe.run" }>;

/** Of what nobody waits for: background runs, tasks, schedules. */
const writeLongWork = (lanes: Lanes, c: LongWork | OfRuns): Lanes => {
  switch (c.type) {
    case "permit.take":
    case "permit.release":
      return lanes.text(c.run);
    case "spawn.answer":
      return lanes.text(c.run).text(c.answer.status);
    case "artifacts.write":
      return lanes.text(c.process).text(c.run).number(c.attempt).text(c.outcome.type);
    case "session.tell":
      return lanes.text(c.key).optional(c.schedule);
    case "task.observe":
      return lanes.text(c.what).text(c.task.id).text(c.task.state).number(c.task.attempt);
    case "run.observe":
      return lanes.text(c.process).number(c.attempt);
    case "schedule.next":
      return lanes.text(c.schedule).text(c.cron_expression).text(c.timezone).number(c.after);
    case "schedule.answer":
      return lanes.text(c.schedule).text(c.answer.status);
    case "probe.run":
      return lanes.text(c.schedule).number(c.fire).text(c.tool);
    default:
      return absurd(c);
  }
};

const write = (lanes: Lanes, c: Command): Lanes => {
  lanes.word(tags[c.type]);
  switch (c.type) {
    case "args.check":
      return lanes.text(c.call).text(c.tool_id);
    case "tool.execute":
      lanes.run(c).text(c.tool_id).text(c.tool).number(c.max_attempts);
      return lanes.text(c.recovery).optional(c.cause);
    case "step.run":
      return lanes.run(c).text(c.key).text(c.recovery);
    case "step.answer":
      return lanes.run(c).text(c.key).number(c.seq).number(c.index).number(c.value);
    case "reply":
      lanes.text(c.request).replies(c);
      return c.flow === undefined ? lanes : lanes.text(c.flow.ending.type).number(c.flow.steps_executed);
    case "observe":
      return lanes.text(c.what).text(c.call).text(c.tool).text(c.call_id);
    case "hook.run":
      return lanes.text(c.call).text(c.phase).text(c.tool);
    case "tool.prepare":
      return lanes.text(c.call).text(c.tool_id);
    case "tool.cancel":
      return lanes.run(c);
    case "host.request":
      return lanes.run(c).text(c.key).text(c.name);
    case "outcome.resolve":
      return lanes.text(c.call).text(c.cause).text(c.tool);
    case "result.project":
      return lanes.text(c.call).text(c.tool);
    case "external.cancel":
      return lanes.text(c.call).text(c.key);
    case "replies.record":
      return lanes.text(c.call).text(c.key).replies(c);
    case "lambda.apply":
      return lanes.text(c.request).text(c.id).text(c.name).text(c.target);
    case "flow.observe":
      return writeFlowEvent(lanes.text(c.request).text(c.event.kind), c.event);
    case "send":
      return lanes.text(c.to).number(c.link).number(c.number).number(c.heard).text(c.message.type);
    case "message.answer":
      return lanes.text(c.to).number(c.link).number(c.number).text(c.outcome.status);
    case "wake.deliver":
      return lanes.text(c.key).text(c.wake.process_id).number(c.wake.sequence).text(c.wake.event_type);
    case "env.load":
      return lanes.text(c.process).text(c.env_ref);
    case "engine.run":
    case "engine.cancel":
      return lanes.text(c.process);
    case "process.observe":
      lanes.text(c.what).text(c.process).number(c.sequence);
      return lanes.optional(c.event_type).optional(c.state);
    case "deletion.report":
      return lanes.texts(c.orphaned).texts(c.preserved);
    default:
      return writeLongWork(lanes, c);
  }
};

const lanesOf = (protocol: number, commands: readonly Command[], deadline: Deadline | undefined): Lanes => {
  const lanes = new Lanes(protocol);
  lanes.word(commands.length);
  for (const command of commands) write(lanes, command);
  return deadline === undefined ? lanes.word(absent) : lanes.number(deadline.at).number(deadline.birth);
};

/** The digest of these commands and this next deadline, in the form of a protocol: 16 hexadecimal digits. */
export const digestOf = (protocol: number, commands: readonly Command[], deadline: Deadline | undefined): string => {
  const lanes = lanesOf(protocol, commands, deadline);
  return hex(lanes.high) + hex(lanes.low);
};

type Outcome = Pick<Transition, "state" | "commands">;

/** The digest of what an event produced. */
export const digest = ({ state, commands }: Outcome): string =>
  digestOf(state.scope.protocol, commands, nextDeadline(state));

/** Whether this is the digest of what an event produced; without making its text. */
export const hasDigest = ({ state, commands }: Outcome, digits: string): boolean => {
  const lanes = lanesOf(state.scope.protocol, commands, nextDeadline(state));
  return lanes.high === wordAt(digits, 0) && lanes.low === wordAt(digits, 8);
};
