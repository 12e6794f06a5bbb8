/**
 * A simulated world: one clock, one store, one outside, and a sequence of processes that run the tools and can die at
 * any moment. The same director and the same pick give the same run, bit for bit.
 */
import { nextDeadline } from "@pawl/sansio-core";
import { type Json, describe, jsonFromJs } from "@pawl/tool-value";
import { type Journal, memoryJournal } from "@pawl/runtime";
import type { JournalLine } from "@pawl/runtime/driver";
import * as E from "fp-ts/lib/Either.js";
import { Audit, LostBodies, openedUnderOther } from "./audit.ts";
import { type Actor, type Pick, VirtualClock, inOrder } from "./clock.ts";
import { type Footprint, type Place, everything, footprintOf, hostHears } from "./footprint.ts";
import { type Arrival, type Chooser, Gate, nextRelease, timePasses } from "./gate.ts";
import { Host, isPassing } from "./host.ts";
import { Ledger } from "./ledger.ts";
import { type Director, type Fate, type Moment, undisturbed } from "./moment.ts";
import type { Ended, Outcome } from "./outcome.ts";
import { Process } from "./process.ts";
import { DeadlineCheck } from "./deadline-check.ts";
import type { Claim, Scenario } from "./scenario.ts";
import { mortalJournal } from "./faulty-journal.ts";

export interface WorldOptions {
  readonly director?: Director;
  readonly pick?: Pick;
  /** Decides the order of arrivals. Without one everything arrives at once. */
  readonly chooser?: Chooser;
  /** Maximum number of tasks. */
  readonly things?: number;
}

/** Delay from a death to the next process. */
const restartMs = 100;
/** Time for which a process is frozen: longer than any lease. */
const frozenMs = 30_000;
/** Time after thawing in which the process is watched. */
const wakingMs = 1000;

/** Interval of `recover()`. */
const recoverMs = 5000;

const outsider: Actor = { name: "outside", isAlive: true };

export class World {
  readonly #scenario: Scenario;
  readonly #director: Director;
  readonly #things: number;
  readonly #clock: VirtualClock;
  readonly #journal: Journal;
  readonly #gate: Gate;
  readonly #chooser: Chooser | undefined;
  /** Places touched since the last choice. */
  #touched = new Set<Place>();
  /** Time passes up to here without a choice. */
  #passing = 0;
  readonly #deadlines = new DeadlineCheck();
  readonly #lostBodies = new LostBodies();
  readonly #audit = new Audit((before, event, after) => {
    this.#lostBodies.taken(before, event, after);
    if (this.#chooser !== undefined) this.#touch(footprintOf(before, event, after));
    const amiss = this.#scenario.upgrades === true ? openedUnderOther(event) : undefined;
    return amiss ?? this.#deadlines.taken(before, event.type, after);
  });
  /** Number of moments at the last recovery. */
  #momentsThen = -1;
  readonly #ledger = new Ledger((place) => this.#touch([place]));
  readonly #moments: Moment[] = [];
  readonly #claims = new Map<string, Claim>();
  readonly #threw = new Map<string, string>();
  readonly #host: Host;
  #process: Process;
  #processes = 0;
  /** Processes that are frozen or have just thawed. */
  #standing = 0;
  #end: { readonly ended: Ended; readonly why?: string; readonly result?: Json } | undefined;

  constructor(scenario: Scenario, options: WorldOptions = {}) {
    const { director = undisturbed, pick = inOrder, things = 100_000, chooser } = options;
    this.#chooser = chooser;
    this.#gate = new Gate(chooser === undefined);
    this.#scenario = scenario;
    this.#director = director;
    this.#things = things;
    this.#clock = new VirtualClock(pick);
    this.#journal = memoryJournal({ now: () => this.#clock.now });
    this.#process = this.#start();
    this.#host = new Host({
      clock: this.#clock,
      ledger: this.#ledger,
      gate: this.#gate,
      actor: outsider,
      process: () => this.#process,
      hears: () => this.#touch([hostHears]),
      pass: (word) => this.#pass(this.#process, { type: "word", word }),
    });
  }

  async run(): Promise<Outcome> {
    void this.#live();
    let ran = await this.#untilQuiet();
    while (ran === "quiet" && this.#recover()) ran = await this.#untilQuiet();
    this.#chooser?.touched(everything); // The end of the host may depend on everything before it.
    const broken = this.#audit.close();
    if (broken !== undefined) this.#end = { ended: "broken", why: broken };
    const why =
      ran === "quiet"
        ? `nothing is left to run, and the host still waits${this.#waitsFor()}`
        : `more than ${this.#things} tasks have run`;
    const { ended, result, ...end } = this.#end ?? { ended: ran === "quiet" ? "stuck" : "exhausted", why };
    return {
      ended,
      why: end.why,
      result,
      moments: this.#moments,
      deaths: this.#processes - 1,
      effects: this.#ledger.counts,
      happened: this.#ledger.happened,
      claims: this.#claims,
      threw: this.#threw,
      lostBodies: this.#lostBodies.all,
      elapsedMs: this.#clock.elapsed,
      logs: await this.#logs(),
    };
  }

  #untilQuiet(): ReturnType<VirtualClock["run"]> {
    return this.#clock.run({
      isDone: () => this.#isDone,
      afterEach: () => this.#look(),
      atRest: () => this.#letIn(),
      most: this.#things,
    });
  }

  /** Lets the process recover abandoned scopes, as a driver does now and then; false if nothing has happened since. */
  #recover(): boolean {
    if (this.#moments.length === this.#momentsThen) return false;
    this.#momentsThen = this.#moments.length;
    const process = this.#process;
    this.#clock.later(process, recoverMs, () => {
      process.runtime.recover().catch((thrown: unknown) => {
        if (!isPassing(thrown)) this.#end ??= { ended: "host_failed", why: String(thrown) };
      });
    });
    return true;
  }

  #touch(places: Footprint | readonly Place[]): void {
    if (this.#chooser !== undefined) for (const place of places) this.#touched.add(place);
  }

  /** Done once the host has ended and frozen processes have thawed. */
  get #isDone(): boolean {
    return this.#end !== undefined && (this.#standing === 0 || this.#end.ended !== "done");
  }

  #waitsFor(): string {
    const open = this.#host.open.map((as) => `an answer to \`${as}\``);
    const awaited = [...open, ...this.#ledger.awaited].join(", ") || "something outside of this world";
    const threw = [...this.#threw].map(([call, message]) => `call ${call} threw: ${message}`);
    return [` for ${awaited}`, ...this.#audit.waiting.slice(0, 5), ...threw.slice(0, 5)].join("; ");
  }

  async #logs(): Promise<ReadonlyMap<string, readonly JournalLine[]>> {
    const logs = this.#audit.scopes.map(async (scope) => [scope, await this.#journal.read(scope, 1)] as const);
    return new Map(await Promise.all(logs));
  }

  async #live(): Promise<void> {
    try {
      const result = jsonFromJs((await this.#scenario.host(this.#host)) ?? null);
      this.#end = E.isLeft(result)
        ? { ended: "host_failed", why: describe(result.left) }
        : { ended: "done", result: result.right };
    } catch (thrown) {
      this.#end = {
        ended: "host_failed",
        why: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown),
      };
    }
  }

  /** Reports faults of the audit, and code that waits for something outside of this world. */
  #look(): void {
    const { fault } = this.#audit;
    if (fault !== undefined) this.#end ??= { ended: "broken", why: fault };
    const { isAlive, watch, isOwed } = this.#process;
    const adrift = isAlive ? watch.adrift(isOwed) : undefined;
    if (adrift === undefined) return;
    const what = isOwed ? "the scenario's outside, but not inside a step" : "something outside of this world";
    const after = adrift.asked === undefined ? "before its first request" : `after ${adrift.asked}`;
    this.#end ??= {
      ended: "left_the_world",
      why: `${adrift.what} waits for ${what}, ${after}`,
    };
  }

  /** Returns the next time at which something happens by itself: a scope's deadline, or a timer outside. */
  #nextDeadline(): number | undefined {
    const states = this.#audit.scopes.flatMap((scope) => this.#audit.state(scope) ?? []);
    const due = states.flatMap((state) => nextDeadline(state)?.at ?? []);
    const rings = this.#clock.nextTimerAt((actor) => !(actor instanceof Process));
    const all = rings === undefined ? due : [...due, rings];
    return all.length === 0 ? undefined : Math.min(...all);
  }

  /** Admits a chosen arrival. Returns whether there was one, so that time need not pass. */
  #letIn(): boolean {
    if (this.#chooser === undefined || this.#isPassing) return false;
    const deadline = this.#nextDeadline();
    const arrivals = this.#gate.ready;
    if (arrivals.length === 0) return false;
    const release = this.#scenario.upgrades === true && this.#processes === 1 ? [nextRelease] : [];
    const chosen = this.#chosen([...arrivals, ...(deadline === undefined ? [] : [timePasses]), ...release]);
    if (chosen === timePasses) this.#passing = deadline ?? 0;
    else if (chosen === nextRelease) this.#release();
    else if (chosen !== undefined) this.#gate.letIn(chosen);
    return chosen !== timePasses;
  }

  /** Lets the next release take the place of the process. */
  #release(): void {
    this.#deadlines.befall(this.#process.name, "die", this.#clock.now);
    this.#kill(this.#process);
    this.#passing = this.#clock.now + restartMs;
  }

  get #isPassing(): boolean {
    const next = this.#clock.nextTimerAt(() => true);
    return next !== undefined && next <= this.#passing;
  }

  #chosen(ready: readonly Arrival[]): Arrival | undefined {
    this.#chooser?.touched(this.#touched);
    const index = this.#chooser?.choose(ready);
    if (index === undefined) this.#end = { ended: "exhausted", why: "no new order starts like this" };
    const chosen = index === undefined ? undefined : ready[index];
    this.#touched = new Set(chosen?.concerns);
    return chosen;
  }

  #start(): Process {
    this.#processes += 1;
    return new Process(`p${this.#processes}`, {
      scenario: this.#scenario,
      clock: this.#clock,
      ledger: this.#ledger,
      gate: this.#gate,
      pass: (process, moment) => void this.#pass(process, moment),
      claim: (effect, claim) => void this.#claims.set(effect, claim),
      threw: (call, message) => void this.#threw.set(call, message),
      journalOf: (process) =>
        mortalJournal(this.#journal, process, {
          clock: this.#clock,
          pass: (moment) => this.#pass(process, moment),
          die: () => this.#kill(process),
          claims: (isClaimed) => isClaimed && process.claimed(),
          taken: ({ scope, lines }) => this.#audit.take(scope, lines),
        }),
    });
  }

  #pass(process: Process, moment: Moment): Fate {
    if (!process.isAlive) return "die";
    this.#moments.push(moment);
    const fate = this.#director(moment, this.#moments.length);
    this.#deadlines.befall(process.name, fate, this.#clock.now);
    if (fate === "die") this.#kill(process);
    if (fate === "frozen") this.#freeze(process);
    if (moment.type === "effect" && moment.when === "before" && process.isZombie)
      this.#end = {
        ended: "broken",
        why: `${process.name} was frozen, owns no scope, and does ${moment.effect}`,
      };
    return fate;
  }

  #kill(process: Process): void {
    process.kill();
    this.#follow(process);
  }

  /** Freezes a process until its lease has expired. */
  #freeze(process: Process): void {
    process.freeze();
    this.#follow(process);
    this.#standing += 1;
    this.#clock.later(outsider, frozenMs, () => process.thaw());
    this.#clock.later(outsider, frozenMs + wakingMs, () => (this.#standing -= 1));
  }

  /** Starts the next process if this was the current one. */
  #follow(process: Process): void {
    if (process !== this.#process) return;
    this.#clock.later(outsider, restartMs, () => {
      this.#process = this.#start();
    });
  }
}
