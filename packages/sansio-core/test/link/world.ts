/** Scopes on a bench that talk to each other, and a carriage between them that can be as bad as it likes. */
import { stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { checkAll } from "../../src/check.ts";
import { checkChange } from "../../src/check-change.ts";
import { EventCodec, initial, outstanding, step } from "../../src/machine.ts";
import type { Command, Event, State } from "../../src/kernel/vocabulary.ts";
import type { RejectionCode } from "../../src/kernel/error.ts";
import { answerOf, takenBy } from "../../src/link/model.ts";
import { type Options, defaultOptions } from "../../src/kernel/options.ts";
import { currentProtocol } from "../../src/kernel/protocol.ts";
import { restore } from "../../src/snapshot/restore.ts";
import { snapshot } from "../../src/snapshot/write.ts";
import type { Tool } from "../../src/catalog/model.ts";
import { strayRaises } from "../raised.ts";

const text = (of: State): string => stringify([snapshot(of), JSON.parse(JSON.stringify(outstanding(of)))]);

/** Returns what a state would lose by being written and read. */
const problemOfSnapshot = (state: State): string | undefined => {
  const read = restore(snapshot(state));
  if (E.isLeft(read)) return `not restored: ${read.left.message}`;
  const [found, expected] = [text(read.right), text(state)];
  return found === expected ? undefined : `restored as another: ${found}, expected ${expected}`;
};

const strays = strayRaises();

export interface Frame {
  readonly to: string;
  readonly event: Event;
}

export class World {
  readonly states = new Map<string, State>();
  readonly logs = new Map<string, Event[]>();
  /** Everything that was ever asked of the outside, by scope. */
  readonly commands = new Map<string, Command[]>();
  readonly finished: string[] = [];
  frames: Frame[] = [];
  at = 1000;

  open(scope: string, tools: readonly Tool[] = [], options: Partial<Options> = {}, protocol = currentProtocol): this {
    this.states.set(scope, initial(scope));
    const all = { ...defaultOptions, ...options };
    this.tell(scope, { type: "scope.opened", epoch: 1, owner: "d1", protocol, options: all });
    return tools.length === 0 ? this : this.tell(scope, { type: "catalog.published", tools });
  }

  state(scope: string): State {
    const state = this.states.get(scope);
    if (state === undefined) throw new Error(`no scope ${scope}`);
    return state;
  }

  #offer(scope: string, event: Event): RejectionCode | undefined {
    const before = this.state(scope);
    const decoded = EventCodec.decode(EventCodec.encode(event));
    if (E.isLeft(decoded)) throw new Error(`${event.type} does not decode`);
    const result = step(before, { seq: before.seq + 1, at: this.at, event: decoded.right });
    if (E.isLeft(result)) return result.left.code;
    const { state, commands, finished } = result.right;
    const broken = checkAll(state) ?? checkChange(before, state);
    const wrong = broken ?? problemOfSnapshot(state) ?? strays.shift();
    if (wrong !== undefined) throw new Error(`after ${event.type} in ${scope}: ${wrong}`);
    this.states.set(scope, state);
    this.logs.set(scope, [...(this.logs.get(scope) ?? []), event]);
    this.commands.set(scope, [...(this.commands.get(scope) ?? []), ...commands]);
    for (const { kind, id } of finished) if (kind === "link") this.finished.push(`${scope}<${id}`);
    this.#carry(scope, commands);
    return undefined;
  }

  #carry(from: string, commands: readonly Command[]): void {
    for (const command of commands) {
      if (command.type === "send") {
        const { type: _, to, ...said } = command;
        this.frames.push({ to, event: { type: "message.received", from, ...said } });
      }
      if (command.type === "message.answer") {
        const { type: _, to, ...said } = command;
        this.frames.push({ to, event: { type: "message.answered", to: from, ...said } });
      }
    }
  }

  tell(scope: string, event: Event): this {
    const code = this.#offer(scope, event);
    if (code !== undefined) throw new Error(`${event.type} in ${scope}: ${code}`);
    return this;
  }

  /** The code with which an event does not fit; undefined: it does. */
  offer(scope: string, event: Event): RejectionCode | undefined {
    return this.#offer(scope, event);
  }

  /** As a driver takes a frame: what closed is over, a repeated message gets its recorded answer, the rest is dropped. */
  take({ to, event: said }: Frame): RejectionCode | undefined {
    const event = takenBy(this.state(to), said as Event & { readonly protocol?: number });
    const isOver = event.type === "message.received" && this.finished.includes(`${to}<${event.from}#${event.link}`);
    const code = isOver ? "already_received" : this.#offer(to, event);
    if (code === "already_received" && event.type === "message.received") {
      const { from, link, number } = event;
      const outcome = answerOf(this.state(to), event, isOver);
      if (outcome !== undefined) {
        this.frames.push({ to: from, event: { type: "message.answered", to, link, number, outcome } });
      }
    }
    return code;
  }

  /** The carriage at its best. */
  deliver(): this {
    for (let frame = this.frames.shift(); frame !== undefined; frame = this.frames.shift()) this.take(frame);
    return this;
  }

  /** Loses, repeats and reorders, by the numbers that it is given. */
  deliverBadly(luck: Iterable<number>): this {
    for (const n of luck) {
      if (this.frames.length === 0) return this;
      const [frame] = this.frames.splice(n % this.frames.length, n % 3 === 0 ? 0 : 1);
      if (frame !== undefined && n % 5 !== 0) this.take(frame);
    }
    return this;
  }

  /** The owner is lost with all that was on its way; the next one asks again. */
  crash(scope: string): this {
    const { epoch, protocol, options } = this.state(scope).scope;
    this.frames = this.frames.filter(({ to }) => to === scope);
    return this.tell(scope, { type: "scope.opened", epoch: epoch + 1, owner: `d${epoch + 1}`, protocol, options });
  }

  /** Sends what is unanswered again, until nothing is. */
  settle(): this {
    for (let round = 0; round < 100; round++) {
      for (const [scope, state] of this.states) this.#carry(scope, outstanding(state));
      if (this.frames.length === 0) return this;
      this.deliver();
    }
    throw new Error("it never settles");
  }

  /** Commands of one type that a scope gave, in order. */
  gave<T extends Command["type"]>(scope: string, type: T): readonly Extract<Command, { readonly type: T }>[] {
    const all = this.commands.get(scope) ?? [];
    return all.filter((command): command is Extract<Command, { readonly type: T }> => command.type === type);
  }
}
