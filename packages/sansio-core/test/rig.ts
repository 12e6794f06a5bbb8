/** A scope on the bench: feeds events, keeps the log, and wants every command named. */
import * as E from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import type { Command, Envelope, Event, State } from "../src/kernel/vocabulary.ts";
import { type Transition, initial, step } from "../src/machine.ts";
import type { Rejection } from "../src/kernel/error.ts";
import { type Options, defaultOptions } from "../src/kernel/options.ts";
import { currentProtocol, newestProtocol } from "../src/kernel/protocol.ts";
import { type Tool, plainTool } from "../src/catalog/model.ts";

/** Every protocol that this core knows: `describe.each(protocols)("under protocol %i", (protocol) => …)`. */
export const protocols: readonly number[] = Array.from({ length: newestProtocol }, (_, i) => i + 1);

/** A tool whose bodies can be run again. */
export const tool = (name: string, more: Partial<Tool> = {}): Tool => plainTool(name, { durable: true, ...more });

export class Rig {
  state: State;
  readonly log: Envelope[] = [];
  #pending: Command[] = [];
  #at = 1000;

  constructor(scope = "session:s") {
    this.state = initial(scope);
  }

  /** An open scope with these tools: of the protocol of new scopes, or of this one. */
  static open(tools: readonly Tool[], options: Partial<Options> = {}, protocol = currentProtocol): Rig {
    const rig = new Rig();
    rig.tell({ type: "scope.opened", epoch: 1, owner: "d1", protocol, options: { ...defaultOptions, ...options } });
    rig.tell({ type: "catalog.published", tools });
    rig.nothingMore();
    return rig;
  }

  get at(): number {
    return this.#at;
  }

  offer(event: Event): E.Either<Rejection, Transition> {
    return step(this.state, { seq: this.state.seq + 1, at: this.#at, event });
  }

  /** An event that fits. */
  /** What observers were told of decisions on parked calls. */
  readonly decisions: Command[] = [];

  tell(event: Event): this {
    this.nothingMore();
    const result = this.offer(event);
    if (E.isLeft(result)) throw new Error(`${event.type}: ${result.left.code}: ${result.left.message}`);
    this.log.push({ seq: this.state.seq + 1, at: this.#at, event });
    this.state = result.right.state;
    for (const command of result.right.commands)
      (command.type === "observe" && command.what === "call_decided" ? this.decisions : this.#pending).push(command);
    return this;
  }

  /** An event that does not fit, with the code that says why; the state stands. */
  refuses(event: Event, code: Rejection["code"]): this {
    const result = this.offer(event);
    expect(E.isLeft(result) ? result.left.code : "accepted").toBe(code);
    return this;
  }

  /** Its driver upgrades it, here and now. */
  upgrade(to = newestProtocol): this {
    return this.tell({ type: "scope.upgraded", to });
  }

  after(ms: number): this {
    this.#at += ms;
    return this;
  }

  /** Time passes, and the driver says so. */
  tick(ms: number): this {
    return this.after(ms).tell({ type: "clock.ticked" });
  }

  /** The next command, of which these fields are looked at. */
  wants(command: Partial<Command> & Pick<Command, "type">): this {
    const next = this.#pending.shift();
    expect(next, `expected ${command.type}, found nothing`).toBeDefined();
    expect(next).toMatchObject(command);
    return this;
  }

  nothingMore(): this {
    const rest = this.#pending;
    this.#pending = [];
    expect(rest).toEqual([]);
    return this;
  }

  /** Drops what is said of crashes. */
  hush(): this {
    this.#pending = this.#pending.filter((command) => command.type !== "observe" || command.what !== "call_crashed");
    return this;
  }

  /** Returns the commands that are left, and takes them. */
  take(): readonly Command[] {
    const rest = this.#pending;
    this.#pending = [];
    return rest;
  }

  /** Drops the commands that a test is not about. */
  skip(): this {
    this.#pending = [];
    return this;
  }
}
