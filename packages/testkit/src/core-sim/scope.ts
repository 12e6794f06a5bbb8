/**
 * A driver of one scope that obeys the duty table. It steps ahead of its appends and holds durable commands back until
 * they are written. After a crash it continues from its claim and the log.
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
  nextDeadline,
  outstanding,
  step,
} from "@pawl/sansio-core";
import { hasRule, isSameState, newestProtocol } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { Body } from "./body.ts";
import { type Options, opening } from "./catalog.ts";
import type { Packet, Environment } from "./environment.ts";
import { type Entry, ScopeLog, stateText } from "./store.ts";
import { anyVersions } from "./version.ts";
import { CoreSimViolation } from "./violation.ts";

/** Events between two checks of all invariants. Changes are checked after each event. */
const eventsPerFullLook = 64;

/** Something to do: a command, a body to start, or a packet to send. */
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
  /** Turns until a slow store commits again. */
  slowTurns = 0;
  options: Options;
  state: State;
  crashes = 0;
  readonly #world: Environment;
  /** The protocol that it begins under. */
  readonly #protocol: number;
  #epoch = 0;
  #ahead: Ahead[] = [];
  #durable: State;
  #held: Held[] = [];
  #finished = new Set<string>();
  #offered: Envelope | undefined;

  constructor(id: string, world: Environment, options: Options, protocol: number) {
    this.id = id;
    this.#world = world;
    this.options = options;
    this.#protocol = protocol;
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
  /** All accepted events, durable or not, and the one at which the core threw. */
  get events(): readonly Envelope[] {
    const taken = [...this.log.entries, ...this.#ahead.map(({ entry }) => entry)].map(({ envelope }) => envelope);
    return this.#offered === undefined ? taken : [...taken, this.#offered];
  }
  isFinished(kind: Finished["kind"], id: string): boolean {
    return this.#finished.has(`${kind} ${id}`);
  }

  /** Steps an event. Returns the rejection, if the core rejects it. */
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

  /** Queues a command at once, or holds it until its event is durable, as the duty table says. */
  #issue(command: Command): void {
    this.#world.coverage.issued(command.type);
    if (dutyOf(command).performed === "durable") this.hold(command);
    else this.todo.push(command);
  }

  /** Queues an act once all events so far are durable. */
  hold(act: Act): void {
    if (this.#ahead.length === 0) this.todo.push(act);
    else this.#held.push({ seq: this.state.seq, act });
  }

  /** Repeats commands that must be repeated until they are acknowledged. */
  repeat(): void {
    for (const command of outstanding(this.state))
      if (dutyOf(command).afterLoss === "until_acknowledged") this.hold(command);
  }

  /** Appends the first `count` pending events. */
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
      throw new CoreSimViolation("store", `${this.id}: its owner is fenced, although nobody else has claimed it`);
    this.#durable = last.state;
    const isDone = ({ seq }: Held): boolean => seq <= last.state.seq;
    this.todo.push(...this.#held.filter(isDone).map(({ act }) => act));
    this.#held = this.#held.filter((held) => !isDone(held));
  }

  /** Simulates a failed append. The driver cannot know what was written, and reopens the scope. */
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

  #opening(epoch: number, state: State): Event {
    const { scope } = state;
    const opened = opening(epoch, this.options, scope.epoch === 0 ? this.#protocol : scope.protocol);
    if (scope.epoch === 0 || !hasRule(scope.protocol, "crash_loops")) return opened;
    const { dice } = this.#world;
    return { ...opened, last_owner: dice.pick(["lost", "lost", "released"]), ...anyVersions(dice, state) };
  }

  /** Lets another owner claim the scope, open it, and die. */
  #fenced(entries: readonly Entry[]): void {
    const epoch = this.log.claim();
    const rival = this.log.fold();
    const envelope = { seq: rival.seq + 1, at: this.time, event: this.#opening(epoch, rival) };
    const result = step(rival, envelope);
    if (E.isLeft(result))
      throw new CoreSimViolation("lost_state", `${this.id}: a new owner is refused: ${result.left.message}`);
    this.log.append(epoch, [{ envelope, digest: digest(result.right), finished: result.right.finished }]);
    if (this.log.append(this.#epoch, entries) !== "fenced")
      throw new CoreSimViolation("store", `${this.id}: a fenced owner appends`);
    this.#drop();
    this.open();
  }

  /** Simulates a crash. Some of the unacknowledged events are in the store. */
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

  /** Checks that the log folds to the live state. */
  #compare(live: State): void {
    if (isSameState(this.log.fold(), live)) return;
    throw new CoreSimViolation(
      "lost_state",
      `${this.id} ${live.seq}: the log folds to a state that differs from the live one`,
    );
  }

  /** Checks at the end that everything is durable and folds to the live state. */
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

  /** Upgrades the scope, where it is not of the newest protocol and does not move. */
  upgrade(): void {
    if (!this.isOpen || this.state.scope.protocol === newestProtocol) return;
    const parked = this.state.calls.rows().filter(({ phase }) => phase === "awaiting_approval");
    const continued = parked.map(({ call }) => ({ call: call.ref, args_hash: `of ${call.ref}` }));
    const refused = this.offer({ type: "scope.upgraded", to: newestProtocol, continued });
    if (refused !== undefined)
      throw new CoreSimViolation("rejection", `${this.id}: it cannot be upgraded: ${refused.message}`);
  }

  /** Claims the scope and continues from its log; `received` is the nonce of a move that ends here. */
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
        ? this.#opening(epoch, this.state)
        : {
            type: "scope.received",
            nonce: received,
            epoch,
            owner: `driver:${epoch}`,
            ...anyVersions(this.#world.dice, this.state),
          },
    );
    if (refused !== undefined)
      throw new CoreSimViolation("lost_state", `${this.id}: a new owner is refused: ${refused.message}`);
    this.resume();
  }

  /** Queues the outstanding commands of the log. */
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

  /** Tells whether a deadline has passed. */
  get isDue(): boolean {
    const due = nextDeadline(this.state);
    return due !== undefined && due.at <= this.time;
  }
}
