/**
 * A driver of one scope that obeys the duty table: it steps ahead of its appends, lets durable commands wait for them,
 * and after a crash goes on from what a claim and the log give it.
 */
import {
  type Command,
  type Envelope,
  type Event,
  type Finished,
  type Rejection,
  type State,
  checkAll,
  checkChange,
  digest,
  dutyOf,
  initial,
  isSameState,
  nextDeadline,
  outstanding,
  step,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Body } from "./body.ts";
import { type Options, opening } from "./catalog.ts";
import type { Packet, Environment } from "./environment.ts";
import { type Entry, ScopeLog, stateText } from "./store.ts";
import { CoreSimViolation } from "./violation.ts";

/** All invariants are looked at every so many events; those of a change after each. */
const eventsPerFullLook = 64;

/** What a driver does: a command, a body that begins to speak, or a packet that leaves. */
export type Act =
  | Command
  | { readonly type: "body.start"; readonly body: Body }
  | { readonly type: "packet"; readonly packet: Packet };

interface Ahead {
  readonly entry: Entry;
  readonly state: State;
}

interface Held {
  readonly seq: number;
  readonly act: Act;
}

export const storeFaults = ["refused", "fenced", "torn", "lost_ack"] as const;
export type StoreFault = (typeof storeFaults)[number];

export class SimScope {
  readonly id: string;
  readonly log: ScopeLog;
  readonly bodies = new Map<string, Body>();
  todo: Act[] = [];
  /** Of a slow store: so many turns go by until it commits again. */
  slowTurns = 0;
  options: Options;
  state: State;
  crashes = 0;
  readonly #world: Environment;
  #epoch = 0;
  #ahead: Ahead[] = [];
  #durable: State;
  #held: Held[] = [];
  #finished = new Set<string>();
  #offered: Envelope | undefined;

  constructor(id: string, world: Environment, options: Options) {
    this.id = id;
    this.#world = world;
    this.options = options;
    this.log = new ScopeLog(id, world.conservation);
    this.state = initial(id);
    this.#durable = this.state;
  }

  get isOpen(): boolean {
    return this.state.scope.status.type === "open";
  }
  get isAhead(): boolean {
    return this.#ahead.length > 0;
  }
  get time(): number {
    return Math.max(this.state.at, this.#world.now);
  }
  /** What was taken, whether or not it is durable, and what the core has thrown at, if it has. */
  get events(): readonly Envelope[] {
    const taken = [...this.log.entries, ...this.#ahead.map(({ entry }) => entry)].map(({ envelope }) => envelope);
    return this.#offered === undefined ? taken : [...taken, this.#offered];
  }
  isFinished(kind: Finished["kind"], id: string): boolean {
    return this.#finished.has(`${kind} ${id}`);
  }

  /** Steps an event. What is rejected is told, and has changed nothing. */
  offer(event: Event, at = this.time): Rejection | undefined {
    const before = this.state;
    const envelope = { seq: before.seq + 1, at, event };
    this.#offered = envelope;
    const result = step(before, envelope);
    this.#offered = undefined;
    const { coverage } = this.#world;
    if (E.isLeft(result)) {
      coverage.refused(result.left.code);
      return result.left;
    }
    const { state, commands, finished } = result.right;
    coverage.took(event.type);
    this.#world.events += 1;
    this.#ahead.push({ entry: { envelope, digest: digest(result.right), finished }, state });
    this.state = state;
    for (const { kind, id } of finished) if (kind === "link" || kind === "wake") this.#finished.add(`${kind} ${id}`);
    this.#check(before, event);
    for (const command of commands) this.#issue(command);
    return undefined;
  }

  #check(before: State, event: Event): void {
    const { state } = this;
    const broken =
      checkChange(before, state) ?? (this.#world.events % eventsPerFullLook === 0 ? checkAll(state) : undefined);
    if (broken !== undefined)
      throw new CoreSimViolation("invariant", `${this.id} ${state.seq} ${event.type}: ${broken}`);
  }

  /** A lease that holds lets what may run again go at once. */
  #issue(command: Command): void {
    this.#world.coverage.issued(command.type);
    if (dutyOf(command).performed === "durable") this.hold(command);
    else this.todo.push(command);
  }

  /** Done when all that is known by now is durable. */
  hold(act: Act): void {
    if (this.#ahead.length === 0) this.todo.push(act);
    else this.#held.push({ seq: this.state.seq, act });
  }

  /** Commands that are repeated until they are acknowledged. */
  repeat(): void {
    for (const command of outstanding(this.state))
      if (dutyOf(command).afterLoss === "until_acknowledged") this.hold(command);
  }

  /** Appends what is ahead, or the first part of it. */
  commit(count = this.#ahead.length): void {
    const part = this.#ahead.splice(0, count);
    const last = part.at(-1);
    if (last === undefined) return;
    if (
      this.log.append(
        this.#epoch,
        part.map(({ entry }) => entry),
      ) === "fenced"
    )
      throw new CoreSimViolation("store", `${this.id}: its owner is fenced, and nobody else has claimed it`);
    this.#durable = last.state;
    const isDone = ({ seq }: Held): boolean => seq <= last.state.seq;
    this.todo.push(...this.#held.filter(isDone).map(({ act }) => act));
    this.#held = this.#held.filter((held) => !isDone(held));
  }

  /** An append that goes wrong; the driver knows no more than that, and drops the scope. */
  fail(fault: StoreFault): void {
    this.#world.coverage.befell(fault);
    const entries = this.#ahead.map(({ entry }) => entry);
    switch (fault) {
      case "refused":
        return this.reopen(0);
      case "torn":
        return this.reopen(this.#world.dice.below(entries.length + 1));
      case "lost_ack":
        return this.reopen(entries.length);
      case "fenced":
        return this.#fenced(entries);
    }
  }

  /** Somebody else claims the scope, opens it, and dies. */
  #fenced(entries: readonly Entry[]): void {
    const epoch = this.log.claim();
    const rival = this.log.fold();
    const envelope = { seq: rival.seq + 1, at: this.time, event: opening(epoch, this.options) };
    const result = step(rival, envelope);
    if (E.isLeft(result))
      throw new CoreSimViolation("lost_state", `${this.id}: a new owner is refused: ${result.left.message}`);
    this.log.append(epoch, [{ envelope, digest: digest(result.right), finished: result.right.finished }]);
    if (this.log.append(this.#epoch, entries) !== "fenced")
      throw new CoreSimViolation("store", `${this.id}: an owner that was fenced appends`);
    this.#drop();
    this.open();
  }

  /** The driver dies; so many of the events that were not acknowledged are in the store all the same. */
  reopen(survivors: number, received?: string): void {
    const kept = this.#ahead.slice(0, survivors);
    this.log.append(
      this.#epoch,
      kept.map(({ entry }) => entry),
    );
    const live = kept.at(-1)?.state ?? this.#durable;
    this.#compare(live);
    if (this.#world.dice.isUnder(10)) this.log.compact(stateText(live));
    this.#drop();
    this.open(received);
  }

  /** What the log comes to is what was live. */
  #compare(live: State): void {
    if (isSameState(this.log.fold(), live)) return;
    throw new CoreSimViolation(
      "lost_state",
      `${this.id} ${live.seq}: the log folds to another state than the live one`,
    );
  }

  /** At its end all is durable, and folds to what is live. */
  verify(): void {
    this.commit();
    this.#compare(this.state);
  }

  #drop(): void {
    this.crashes += 1;
    this.#ahead = [];
    this.#held = [];
    this.todo = [];
    this.slowTurns = 0;
    this.bodies.clear();
  }

  /** Claims the scope and goes on from its log; `received` is the nonce of a move that ends here. */
  open(received?: string): void {
    this.#epoch = this.log.claim();
    this.state = this.log.fold();
    this.#durable = this.state;
    this.#finished = new Set(
      this.log.entries.flatMap(({ finished }) => finished.map(({ kind, id }) => `${kind} ${id}`)),
    );
    const epoch = this.#epoch;
    const refused = this.offer(
      received === undefined
        ? opening(epoch, this.options)
        : { type: "scope.received", nonce: received, epoch, owner: `driver:${epoch}` },
    );
    if (refused !== undefined)
      throw new CoreSimViolation("lost_state", `${this.id}: a new owner is refused: ${refused.message}`);
    this.resume();
  }

  /** What the log says is still to be done. */
  resume(): void {
    this.todo = [];
    this.#held = [];
    this.bodies.clear();
    if (!this.isOpen) return;
    for (const command of outstanding(this.state)) {
      if (dutyOf(command).performed === "durable") this.hold(command);
      else this.todo.push(command);
    }
  }

  /** Whether a deadline has come by now. */
  get isDue(): boolean {
    const due = nextDeadline(this.state);
    return due !== undefined && due.at <= this.time;
  }
}
