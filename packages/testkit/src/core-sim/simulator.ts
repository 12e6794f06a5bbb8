/**
 * The core simulation: two sessions and a process over one store, driven by scripts.
 *
 * A seed decides everything: requests, bodies, and faults. After a number of events the faults stop, and every scope
 * has to come to rest. Invariants are checked after each event; conservation and replay at the end.
 */
import { type Envelope, type Rejection, checkAll, initial, nextDeadline, outstanding, step } from "@pawl/sansio-core";
import { newestProtocol } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { speak } from "./body.ts";
import { anyOptions, anyTools } from "./catalog.ts";
import { Coverage } from "./coverage.ts";
import { Dice, takeAny } from "./random.ts";
import { Conservation } from "./conservation.ts";
import { help, interfere } from "./outside.ts";
import { deliver, perform } from "./perform.ts";
import { processScopeId, sessionScopes } from "./process.ts";
import { SimScope, type StoreFault, storeFaults } from "./scope.ts";
import { offerInvalid, offerInvalidWhileMoving } from "./invalid-event.ts";
import type { Packet, Environment } from "./environment.ts";
import type { Entry } from "./store.ts";
import { CoreSimViolation, asViolation } from "./violation.ts";

/** Names the faults that a seed may choose. */
export const coreSimFaults = [...storeFaults, "died", "slow", "packet twice", "packet lost", "act lost"] as const;
export type CoreSimFault = (typeof coreSimFaults)[number];

export interface CoreSimOptions {
  /** Number of events before the faults stop. */
  readonly events?: number;
  readonly without?: readonly CoreSimFault[];
  /**
   * The protocol of its scopes. By default each begins under one that the core knows, and is upgraded before any event, or
   * never. A simulation that was cut keeps the protocols of its logs.
   */
  readonly protocol?: number;
}

export interface CoreSimRun {
  readonly seed: number;
  readonly events: number;
  readonly crashes: number;
  readonly coverage: Coverage;
  readonly violation: CoreSimViolation | undefined;
  /** The events that each scope accepted, durable or not. */
  readonly logs: ReadonlyMap<string, readonly Envelope[]>;
}

const defaultEvents = 220;
/** Turns after which a world that has not come to rest counts as stuck. */
const calmTurns = 6000;

const isSettled = ({ state }: SimScope): boolean =>
  state.calls.size + state.batches.size + state.requests.size === 0 && outstanding(state).length === 0;

/** A simulation that was cut: the durable log of each scope, and the kind of process that its bodies are written for. */
export interface CoreSimCut {
  readonly processKind: number;
  readonly logs: ReadonlyMap<string, readonly Entry[]>;
}

class CoreSim implements Environment {
  readonly dice: Dice;
  readonly coverage = new Coverage();
  readonly conservation = new Conservation();
  readonly packets: Packet[] = [];
  readonly processKind: number;
  readonly scopes: readonly SimScope[];
  readonly #faults: readonly CoreSimFault[];
  readonly #isUpgrading: boolean;
  isCalm = false;
  now = 1000;
  events = 0;

  constructor(seed: number, { without = [], protocol }: CoreSimOptions, cut?: CoreSimCut) {
    this.dice = new Dice(seed);
    this.processKind = cut?.processKind ?? this.dice.below(4);
    this.#faults = coreSimFaults.filter((fault) => !without.includes(fault));
    this.scopes = [...sessionScopes, processScopeId].map(
      (id) => new SimScope(id, this, anyOptions(this.dice), protocol ?? (cut === undefined ? this.#anyProtocol() : 1)),
    );
    this.#isUpgrading = protocol === undefined && cut === undefined;
    for (const scope of this.scopes) {
      if (cut === undefined) this.#begin(scope);
      else this.#goOn(scope, cut.logs.get(scope.id) ?? []);
    }
  }

  #anyProtocol(): number {
    return 1 + this.dice.below(newestProtocol);
  }

  /** Lets a new owner continue a log. */
  #goOn(scope: SimScope, entries: readonly Entry[]): void {
    const epochs = entries.map(({ envelope: { event } }) => ("epoch" in event ? event.epoch : 0));
    scope.log.append(scope.log.claim(Math.max(0, ...epochs)), entries);
    this.now = Math.max(this.now, entries.at(-1)?.envelope.at ?? 0);
    scope.open();
  }

  /** Stops in the middle: what is not durable is lost. */
  cut(events: number): CoreSimCut {
    while (this.events < events) this.#turn();
    return { processKind: this.processKind, logs: new Map(this.scopes.map(({ id, log }) => [id, log.entries])) };
  }

  #begin(scope: SimScope): void {
    this.#isRefused(step(initial(scope.id), { seq: 1, at: 1, event: { type: "clock.ticked" } }), "scope_not_opened");
    scope.open();
    if (scope.id !== processScopeId || this.dice.isUnder(50))
      scope.offer({ type: "catalog.published", tools: anyTools(this.dice, scope.state.scope.protocol) });
  }

  #isRefused(result: E.Either<Rejection, unknown>, code: Rejection["code"]): void {
    const found = E.isLeft(result) ? result.left.code : "taken";
    if (found !== code) throw new CoreSimViolation("rejection", `expected ${code}, found ${found}`);
    this.coverage.refused(code);
  }

  run(events: number): void {
    while (this.events < events) this.#turn();
    this.isCalm = true;
    for (let turn = 0; !this.#isAtRest(); turn++) {
      if (turn > calmTurns) throw new CoreSimViolation("stuck", this.#held());
      this.#calmTurn();
    }
    this.#close();
  }

  #close(): void {
    for (const scope of this.scopes) {
      scope.verify();
      const broken = checkAll(scope.state);
      if (broken !== undefined) throw new CoreSimViolation("invariant", `${scope.id} at its end: ${broken}`);
    }
    this.conservation.close(this.scopes.map(({ state }) => state));
  }

  #befalls(fault: CoreSimFault, perMille: number): boolean {
    if (!this.dice.perMille(perMille) || !this.#faults.includes(fault)) return false;
    this.coverage.befell(fault);
    return true;
  }

  #turn(): void {
    const scope = this.dice.pick(this.scopes);
    if (this.#isUpgrading && this.dice.perMille(4)) scope.upgrade();
    if (scope.slowTurns > 0) scope.slowTurns -= 1;
    if (!scope.isOpen) return this.#endMove(scope);
    const roll = this.dice.below(1000);
    if (roll < 400) return this.#perform(scope);
    if (roll < 640) return this.#speak(scope);
    if (roll < 740) return this.#commit(scope);
    if (roll < 840) return this.#deliver();
    if (roll < 910) return void interfere(scope, this);
    if (roll < 960) return offerInvalid(scope, this);
    if (roll < 990) return this.#passTime(scope);
    if (roll < 995) return scope.repeat();
    if (this.#befalls("died", 500)) scope.reopen(0);
  }

  #perform(scope: SimScope): void {
    const act = takeAny(scope.todo, this.dice);
    if (act === undefined) return this.#speak(scope);
    const isRepeated = act.type === "send" || act.type === "reply" || act.type === "wake.deliver";
    if (isRepeated && this.#befalls("act lost", 40)) return;
    perform(scope, this, act);
  }

  #speak(scope: SimScope): void {
    const bodies = [...scope.bodies.values()];
    if (bodies.length === 0) return void interfere(scope, this);
    speak(scope, this, this.dice.pick(bodies));
  }

  #commit(scope: SimScope): void {
    if (!scope.isAhead || scope.slowTurns > 0) return;
    const fault = this.dice.pick(storeFaults);
    if (this.dice.perMille(45) && this.#faults.includes(fault)) return scope.fail(fault satisfies StoreFault);
    if (this.#befalls("slow", 30)) scope.slowTurns = 10 + this.dice.below(40);
    else if (this.dice.isUnder(30)) scope.commit(1);
    else scope.commit();
  }

  #deliver(): void {
    const packet = takeAny(this.packets, this.dice);
    if (packet === undefined || this.#befalls("packet lost", 30)) return;
    if (this.#befalls("packet twice", 60)) this.packets.push(packet);
    const scope = this.scopes.find(({ id }) => id === packet.to);
    if (scope === undefined) throw new CoreSimViolation("thrown", `a packet to ${packet.to}, which does not exist`);
    if (scope.isOpen) deliver(scope, packet);
    else this.packets.push(packet);
  }

  #passTime(scope: SimScope): void {
    const due = nextDeadline(scope.state);
    const isNear = due !== undefined && due.at - this.now < 10_000_000;
    if (isNear && this.dice.isUnder(40)) this.now = Math.max(this.now, due.at);
    else this.now += this.dice.pick([1, 49, 50, 500]);
    scope.offer({ type: "clock.ticked" });
  }

  /**
   * Ends a scope's move: the scope is kept, or continues elsewhere from a copy of its log. The copy left behind must
   * reject everything.
   */
  #endMove(scope: SimScope): void {
    const { status } = scope.state.scope;
    if (status.type !== "moving") return;
    offerInvalidWhileMoving(scope);
    const { nonce } = status;
    if (this.isCalm || this.dice.isUnder(40)) {
      scope.offer({ type: "scope.kept", nonce });
      if (status.reopened) scope.resume();
      return;
    }
    if (this.dice.isUnder(30)) return scope.reopen(0);
    scope.commit();
    this.#leave(scope, nonce);
    scope.reopen(0, nonce);
  }

  #leave({ state }: SimScope, nonce: string): void {
    const moved = step(state, { seq: state.seq + 1, at: state.at, event: { type: "scope.moved", nonce } });
    if (E.isLeft(moved)) throw new CoreSimViolation("rejection", `a move cannot end: ${moved.left.message}`);
    this.coverage.took("scope.moved");
    const { seq, at } = moved.right.state;
    const next = { seq: seq + 1, at, event: { type: "clock.ticked" } } as const;
    this.#isRefused(step(moved.right.state, next), "scope_has_moved");
    this.#isRefused(step(moved.right.state, { ...next, seq }), "sequence_mismatch");
    this.#isRefused(step(moved.right.state, { ...next, at: at - 1 }), "time_went_back");
  }

  #isAtRest(): boolean {
    return (
      this.packets.length === 0 && this.scopes.every((scope) => !scope.isAhead && scope.isOpen && isSettled(scope))
    );
  }

  #calmTurn(): void {
    let isMoving = false;
    for (const scope of this.scopes) isMoving = this.#calm(scope) || isMoving;
    while (this.packets.length > 0) {
      this.#deliver();
      isMoving = true;
    }
    if (isMoving) return;
    for (const scope of this.scopes) isMoving = help(scope, this) || isMoving;
    if (isMoving) return;
    for (const scope of this.scopes) scope.repeat();
    if (this.scopes.every(({ todo }) => todo.length === 0)) this.#skipTime();
  }

  /** Does everything that a scope can do. Returns false if there was nothing. */
  #calm(scope: SimScope): boolean {
    if (!scope.isOpen) this.#endMove(scope);
    const before = this.events;
    let wasBusy = scope.isAhead || scope.todo.length > 0;
    scope.commit();
    for (let act = scope.todo.shift(); act !== undefined; act = scope.todo.shift()) perform(scope, this, act);
    for (const body of scope.bodies.values()) wasBusy = speak(scope, this, body) || wasBusy;
    if (scope.isDue) scope.offer({ type: "clock.ticked" });
    return wasBusy || this.events > before;
  }

  #skipTime(): void {
    const dues = this.scopes.flatMap(({ state }) => nextDeadline(state)?.at ?? []);
    if (dues.length === 0) {
      if (this.#isAtRest()) return;
      throw new CoreSimViolation("stuck", `nothing is outstanding, but ${this.#held()}`);
    }
    this.now = Math.max(this.now, Math.min(...dues));
  }

  #held(): string {
    const held = this.scopes.flatMap((scope) => [
      ...scope.state.calls.rows().map(({ call, phase }) => `${scope.id}: ${call.ref} is ${phase}`),
      ...scope.state.requests.rows().map(({ request, phase }) => `${scope.id}: ${request} is ${phase}`),
      ...outstanding(scope.state).map(({ type }) => `${scope.id}: ${type} is outstanding`),
    ]);
    return [...held, `${this.packets.length} packets`].join(", ");
  }
}

/** Cuts the simulation of a seed after a number of events. */
export const cutCoreSim = (seed: number, events: number): CoreSimCut => new CoreSim(seed, {}).cut(events);

/** Runs the simulation of a seed, or brings one that was cut to its end. */
export const runCoreSim = (seed: number, options: CoreSimOptions = {}, cut?: CoreSimCut): CoreSimRun => {
  const simulation = new CoreSim(seed, options, cut);
  let violation: CoreSimViolation | undefined;
  try {
    simulation.run(cut === undefined ? (options.events ?? defaultEvents) : 0);
  } catch (error) {
    violation = asViolation(error);
  }
  const { events, coverage, scopes } = simulation;
  const crashes = scopes.reduce((sum, scope) => sum + scope.crashes, 0);
  return { seed, events, crashes, coverage, violation, logs: new Map(scopes.map(({ id, events: all }) => [id, all])) };
};
