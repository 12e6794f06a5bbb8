/**
 * A world in which a scenario runs: one clock, one store, one outside, and one process after the other that runs the
 * tools and can die at every moment. The same director and the same pick give the same world, to the bit.
 */
import { nextDeadline } from "@pawl/sansio-core";
import { type Json, describe, jsonFromJs } from "@pawl/tool-value";
import { type Journal, type JournalLine, memoryJournal } from "@pawl/runtime";
import * as E from "fp-ts/lib/Either.js";
import { Audit, LostBodies } from "./audit.ts";
import { type Actor, type Pick, VirtualClock, inOrder } from "./clock.ts";
import { type Footprint, type Place, everything, footprintOf, hostHears } from "./footprint.ts";
import { type Arrival, type Chooser, Gate, timePasses } from "./gate.ts";
import { Host, isPassing } from "./host.ts";
import { Ledger } from "./ledger.ts";
import { type Director, type Fate, type Moment, undisturbed } from "./moment.ts";
import type { Ended, Outcome } from "./outcome.ts";
import { Process } from "./process.ts";
import { Punctuality } from "./deadline-check.ts";
import type { Claim, Scenario } from "./scenario.ts";
import { mortalJournal } from "./faulty-journal.ts";

export interface WorldOptions {
  readonly director?: Director;
  readonly pick?: Pick;
  /** Who decides what arrives next; without one everything arrives when it comes. */
  readonly chooser?: Chooser;
  /** So many things may happen. */
  readonly things?: number;
}

/** How long after its death a process is started anew. */
const restartMs = 100;
/** How long a process stands still: longer than any lease of a world. */
const frozenMs = 30_000;
/** How long the world looks at what it does then. */
const wakingMs = 1000;

/** How long it is from one look for what nobody looks after to the next. */
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
  /** What was touched since the last choice. */
  #touched = new Set<Place>();
  /** Up to when time passes without a choice. */
  #passing = 0;
  readonly #punctuality = new Punctuality();
  readonly #lostBodies = new LostBodies();
  readonly #audit = new Audit((before, event, after) => {
    this.#lostBodies.taken(before, event, after);
    if (this.#chooser !== undefined) this.#touch(footprintOf(before, event, after));
    return this.#punctuality.taken(before, event.type, after);
  });
  /** So many moments there were when somebody last looked for what nobody looks after. */
  #momentsThen = -1;
  readonly #ledger = new Ledger((place) => this.#touch([place]));
  readonly #moments: Moment[] = [];
  readonly #claims = new Map<string, Claim>();
  readonly #threw = new Map<string, string>();
  readonly #host: Host;
  #process: Process;
  #processes = 0;
  /** Processes that stand still, or have just woken. */
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
    this.#chooser?.touched(everything); // What is left undone where the host ends, is undone by what ended it.
    const broken = this.#audit.close();
    if (broken !== undefined) this.#end = { ended: "broken", why: broken };
    const why =
      ran === "quiet"
        ? `nothing is left to happen, and the host still waits${this.#waitsFor()}`
        : `more than ${this.#things} things happened`;
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

  /** A driver looks now and then for scopes that nobody looks after; here when all is quiet, and something was not before. */
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

  /** Who stands still when the host has what it wanted wakes all the same. */
  get #isDone(): boolean {
    return this.#end !== undefined && (this.#standing === 0 || this.#end.ended !== "done");
  }

  #waitsFor(): string {
    const open = this.#host.open.map((as) => `an answer to \`${as}\``);
    const awaited = [...open, ...this.#ledger.awaited].join(", ") || "something that is not of this world";
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

  /** Nothing can happen now but what the world brings: whoever waits for something else has left it. */
  #look(): void {
    const { fault } = this.#audit;
    if (fault !== undefined) this.#end ??= { ended: "broken", why: fault };
    const { isAlive, watch, isOwed } = this.#process;
    const adrift = isAlive ? watch.adrift(isOwed) : undefined;
    if (adrift === undefined) return;
    const what = isOwed ? "the scenario's outside, and not inside a step" : "something that is not of this world";
    const after = adrift.asked === undefined ? "before it asked for anything" : `after ${adrift.asked}`;
    this.#end ??= {
      ended: "left_the_world",
      why: `${adrift.what} waits for ${what}, ${after}`,
    };
  }

  /** When something would happen by itself: a deadline of a scope, or the end of somebody's sleep outside. */
  #nextDeadline(): number | undefined {
    const states = this.#audit.scopes.flatMap((scope) => this.#audit.state(scope) ?? []);
    const due = states.flatMap((state) => nextDeadline(state)?.at ?? []);
    const rings = this.#clock.nextTimerAt((actor) => !(actor instanceof Process));
    const all = rings === undefined ? due : [...due, rings];
    return all.length === 0 ? undefined : Math.min(...all);
  }

  /** Lets in what is chosen of all that can arrive; says whether something was, so that time need not pass. */
  #letIn(): boolean {
    if (this.#chooser === undefined || this.#isPassing) return false;
    const deadline = this.#nextDeadline();
    const arrivals = this.#gate.ready;
    if (arrivals.length === 0) return false;
    const chosen = this.#chosen(deadline === undefined ? arrivals : [...arrivals, timePasses]);
    if (chosen === timePasses) this.#passing = deadline ?? 0;
    else if (chosen !== undefined) this.#gate.letIn(chosen);
    return chosen !== timePasses;
  }

  get #isPassing(): boolean {
    const next = this.#clock.nextTimerAt(() => true);
    return next !== undefined && next <= this.#passing;
  }

  #chosen(ready: readonly Arrival[]): Arrival | undefined {
    this.#chooser?.touched(this.#touched);
    const index = this.#chooser?.choose(ready);
    if (index === undefined) this.#end = { ended: "exhausted", why: "no order that is new begins like this" };
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
    this.#punctuality.befall(process.name, fate, this.#clock.now);
    if (fate === "die") this.#kill(process);
    if (fate === "frozen") this.#freeze(process);
    if (moment.type === "effect" && moment.when === "before" && process.isZombie)
      this.#end = {
        ended: "broken",
        why: `${process.name} stood still, is nobody's owner, and does ${moment.effect}`,
      };
    return fate;
  }

  #kill(process: Process): void {
    process.kill();
    this.#follow(process);
  }

  /** It stands still, and wakes after its lease has run out. */
  #freeze(process: Process): void {
    process.freeze();
    this.#follow(process);
    this.#standing += 1;
    this.#clock.later(outsider, frozenMs, () => process.thaw());
    this.#clock.later(outsider, frozenMs + wakingMs, () => (this.#standing -= 1));
  }

  /** Another process comes after the one that runs the tools now. */
  #follow(process: Process): void {
    if (process !== this.#process) return;
    this.#clock.later(outsider, restartMs, () => {
      this.#process = this.#start();
    });
  }
}
