/** Records a golden log: tells events to a scope, wants their commands named, and keeps what there is to write. */
import type { Kept } from "../../src/about/model.ts";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { bodyOf } from "../../src/call/row.ts";
import { type Tool, plainTool } from "../../src/catalog/model.ts";
import type { Command, Event, State } from "../../src/kernel/vocabulary.ts";
import type { Rejection } from "../../src/kernel/error.ts";
import { commandsLine, producedBy } from "../../src/log/compare.ts";
import { headerLine, write } from "../../src/log/format.ts";
import { type Options, defaultOptions } from "../../src/kernel/options.ts";
import { initial } from "../../src/machine.ts";

export const tool = (name: string, more: Partial<Tool> = {}): Tool => plainTool(name, { durable: true, ...more });

/** A command in a few words: what it is, and whom it is for. */
const words = (command: Command): string => {
  switch (command.type) {
    case "observe":
      return `${command.what} ${command.call_id}`;
    case "tool.execute":
      return ["execute", command.call, `${command.attempt}.${command.run}`, command.cause ?? ""].join(" ").trimEnd();
    case "hook.run":
      return `hook ${command.phase} ${command.call}`;
    case "step.answer":
      return `answer ${command.key} of ${command.seq}`;
    case "reply":
      return `reply ${command.request}`;
    case "turn.observe":
      return `${command.what} ${command.request}`;
    case "model.ask":
      return `model.ask ${command.request} ${command.n}.${command.attempt} ${command.mode}`;
    case "model.stop":
    case "model.resolve":
      return `${command.type} ${command.request} ${command.n}.${command.attempt}`;
    case "turn.check":
      return `turn.check ${command.request} ${command.n} ${command.at}`;
    default: {
      const { key, call } = command as { readonly key?: string; readonly call?: string };
      return `${command.type} ${key ?? call ?? ""}`.trimEnd();
    }
  }
};

let opened = 1;

/** Records what is made meanwhile under a protocol; else it is of protocol 1. */
export const underProtocol = <A>(protocol: number, make: () => A): A => {
  const before = opened;
  opened = protocol;
  try {
    return make();
  } finally {
    opened = before;
  }
};

export class Tape {
  state: State;
  readonly lines: string[] = [];
  readonly commands: string[] = [];
  /** All commands, as they came. */
  readonly said: Command[] = [];
  #at = 1_763_459_854_000;

  constructor(scope: string) {
    this.state = initial(scope);
    this.lines.push(headerLine({ format: 1, protocol: opened, scope, epoch: 1, writer: "golden", base: 0 }));
  }

  /** An open scope with these tools. */
  static open(tools: readonly Tool[], options: Partial<Options> = {}, scope = "session:golden"): Tape {
    const tape = new Tape(scope);
    const all = { ...defaultOptions, ...options };
    tape.tell({ type: "scope.opened", epoch: 1, owner: "d1", protocol: opened, options: all });
    return tape.tell({ type: "catalog.published", tools });
  }

  get protocol(): number {
    return this.state.scope.protocol;
  }

  /** Returns what is said of a crash, which protocol 1 says nothing of. */
  crashed(id: string): readonly string[] {
    return this.protocol === 1 ? [] : [`call_crashed ${id}`];
  }

  /** Decisions on parked calls, as observers are told from protocol 2 on. */
  decided(...ids: readonly string[]): readonly string[] {
    return this.protocol === 1 ? [] : ids.map((id) => `call_decided ${id}`);
  }

  /** Where the log stands: the sequence of the last event. */
  get seq(): number {
    return this.state.seq;
  }

  after(ms: number): this {
    this.#at += ms;
    return this;
  }

  /** An event that fits, and the commands that have to follow from it, in a few words each. */
  tell(event: Event, ...wanted: readonly string[]): this {
    return this.#write(event, wanted);
  }

  /** An event whose commands are named elsewhere. */
  note(event: Event): this {
    return this.#write(event, undefined);
  }

  #write(event: Event, wanted: readonly string[] | undefined): this {
    const envelope = { seq: this.state.seq + 1, at: this.#at, event };
    const result = write(this.state, envelope);
    if (E.isLeft(result)) throw new Error(`${envelope.seq} ${event.type}: ${result.left.code}: ${result.left.message}`);
    const found = result.right.commands.map(words);
    if (wanted !== undefined && found.join("\n") !== wanted.join("\n")) {
      const places = `expected ${JSON.stringify(wanted)}, found ${JSON.stringify(found)}`;
      throw new Error(`${envelope.seq} ${event.type}: ${places}`);
    }
    this.state = result.right.state;
    this.lines.push(result.right.line);
    this.said.push(...result.right.commands);
    this.commands.push(commandsLine(envelope.seq, producedBy(result.right)));
    return this;
  }

  /** An event that does not fit, and so stands in no log. */
  refuses(event: Event, code: Rejection["code"]): this {
    const result = write(this.state, { seq: this.state.seq + 1, at: this.#at, event });
    const found = E.isLeft(result) ? result.left.code : "accepted";
    if (found !== code) throw new Error(`${this.state.seq + 1} ${event.type}: expected ${code}, found ${found}`);
    return this;
  }

  /** The answer of a host to a request that is open, which it names where its protocol has that. */
  answered(call: string, key: string, value: Json, ...wanted: readonly string[]): this {
    return this.keeping(undefined, call, key, value, ...wanted);
  }

  /** The answer to a request that writes a value of the scope. */
  keeping(keeps: Kept | undefined, call: string, key: string, value: Json, ...wanted: readonly string[]): this {
    const row = this.state.calls.at(call);
    const { seq = 0, hash = "" } = (row && bodyOf(row)?.open.find((open) => open.key === key)) ?? {};
    const named = this.state.scope.protocol === 1 ? {} : { seq, hash };
    const result = { status: "ok", value } as const;
    return this.tell(
      { type: "host.answered", call, key, result, ...named, ...(keeps === undefined ? {} : { keeps }) },
      ...wanted,
    );
  }

  /** Time passes, and the driver says so. */
  tick(ms: number, ...wanted: readonly string[]): this {
    return this.after(ms).tell({ type: "clock.ticked" }, ...wanted);
  }
}
