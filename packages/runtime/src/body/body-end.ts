/**
 * How a run leaves memory: with the end of its function, or suspended. The end of the function is held back until what it began
 * outside has ended on record: its steps, batches in which a call is at work, requests to the host. What their answers make the
 * function do is waited for as well. The core refuses an end that comes before; a crash meanwhile runs the body again.
 *
 * A cancelled run waits for its clean-ups first, and then for its grace, which the core counts.
 *
 * A live run that only waits is suspended after it was quiet for `suspendMs`. Bringing it back
 * costs a re-run: one that takes longer than a tenth of that earns its body ten times as much patience.
 *
 *   last request or answer ── patience ──▶ may it be suspended? ── yes ──▶ it leaves memory
 *                                                └── no: it has to stay, and is asked for again as soon as its scope is
 *                                                    at rest after something else has changed
 *
 * The core decides, by its rows: what a body waits for may be at work, and come to rest long after the body did.
 */
import type { EventOf, State } from "@pawl/sansio-core";
import { awaitedEffects, bodyOf, hasRule } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { ScopeRunner } from "../scope/runner.ts";
import type { BodyPort } from "./body-port.ts";
import { type Divergence, endedBefore } from "./divergence.ts";
import type { Outcome, Request, RunId } from "./record.ts";
import type { News, ReplayOrder } from "./replay.ts";
import type { CleanUps } from "./stop.ts";
import type { InContext, Platform } from "../platform.ts";

export interface EndingRun {
  readonly id: RunId;
  readonly isOver: boolean;
  readonly isCancelled: boolean;
  readonly news: News;
  /** True while it waits for an effect that its end waits for. */
  readonly isAwaiting: boolean;
  readonly cleanUps: CleanUps;
  readonly diverge: (divergence: Divergence) => void;
}

export class BodyEnd {
  readonly #run: EndingRun;
  readonly #replay: ReplayOrder;
  readonly #port: BodyPort;
  #wake: (() => void) | undefined;
  #isOutOfTime = false;

  constructor(run: EndingRun, replay: ReplayOrder, port: BodyPort) {
    this.#run = run;
    this.#replay = replay;
    this.#port = port;
  }

  /** Looks again: something has happened to the run, or to its call. */
  review(): void {
    this.#wake?.();
  }

  /** Resolves when the function may end, or its run is over. */
  async wait(): Promise<void> {
    const effectsMs = this.#port.effectsMs();
    if (effectsMs === undefined) return this.#replayed();
    if (this.#mayEnd) return;
    const callOff = this.#port.platform.later(effectsMs, () => this.#giveUp());
    try {
      while (!this.#mayEnd) {
        if (this.#run.isCancelled) await this.#cleanUp();
        else await this.#replayed();
        if (!this.#mayEnd && (this.#run.isCancelled || !this.#replay.isReplaying)) await this.#changed();
      }
    } finally {
      callOff();
    }
  }

  get #mayEnd(): boolean {
    const { isOver, isCancelled, cleanUps, isAwaiting } = this.#run;
    if (isOver) return true;
    if (isCancelled ? !cleanUps.areOver : this.#replay.isReplaying) return false;
    return this.#isOutOfTime || !isAwaiting;
  }

  /** Resolves when what the function has left running has made the rest of the recorded requests. */
  async #replayed(): Promise<void> {
    const run = this.#run;
    while (!run.isOver && !run.isCancelled && this.#replay.isReplaying) {
      if (run.news === "none") return run.diverge(endedBefore(this.#replay.missing));
      this.#port.schedule();
      await this.#nextTurn();
    }
  }

  async #cleanUp(): Promise<void> {
    await this.#run.cleanUps.over();
    if (!this.#run.isOver && this.#run.isAwaiting) this.#port.cleanedUp(this.#run.id);
  }

  /** Resolves after a change, once the function has done all that follows from it. */
  async #changed(): Promise<void> {
    this.#port.ending.add(this);
    await new Promise<void>((wake) => (this.#wake = wake));
    this.#port.ending.delete(this);
    this.#wake = undefined;
    await this.#nextTurn();
  }

  #giveUp(): void {
    this.#isOutOfTime = true;
    this.review();
  }

  #nextTurn(): Promise<void> {
    return new Promise((then) => this.#port.platform.nextTurn(then));
  }
}

/** Returns whether a request makes something run outside of its body, whose end it may hold back. */
const isOutside = ({ effect: { kind }, isWait }: Request): boolean =>
  isWait !== true && (kind === "step" || kind === "host" || kind === "trigger" || kind === "batch");

/** Returns whether the end of a call's body waits for any of these requests. What has settled is about to be answered. */
export const isAwaiting = (state: State, call: string, requests: Iterable<{ readonly request: Request }>): boolean => {
  const row = state.calls.at(call);
  const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
  const awaited = new Set(awaitedEffects(state, call));
  const idle = new Set(open.map(({ key }) => key).filter((key) => !awaited.has(key)));
  return [...requests].some(({ request }) => isOutside(request) && !idle.has(request.key));
};

/** Names what a body leaves that ends now; undefined where its end waits for no effects. */
export const leftBy = (state: State, call: string): readonly string[] | undefined => {
  const row = state.calls.at(call);
  const waits = hasRule(state.scope.protocol, "waits_for_effects") && row?.phase === "running";
  return waits && row.cancelled === undefined ? awaitedEffects(state, call) : undefined;
};

/** Records the end of a body. While its values were stored a call below may have begun again: then the scope is lost. */
export const recordEnd = async (
  runner: ScopeRunner,
  event: EventOf<"call.settled" | "call.continued">,
): Promise<void> => {
  let told: Outcome | undefined = runner.apply(event);
  while (told !== undefined && E.isRight(told) && told.right.later !== undefined) told = await told.right.later;
  if (told !== undefined && E.isLeft(told) && told.left.code === "effects_open")
    runner.abandon(`the end of a body was refused: ${told.left.message}`);
};

/** How long a body may be quiet. */
export interface Patience {
  /** Before it is suspended, if it only waits. */
  readonly suspendMs: number;
  /** In a re-run, while an answer of its log is held for a request that it does not make. */
  readonly holdMs: number;
}
/** Bounds on quiet bodies, where options give no others. */
export const defaultPatience: Patience = { suspendMs: 2000, holdMs: 30_000 };

/** Reports when nothing has happened for a while. Each event costs a number; only being idle costs a timer. */
export class IdleWatch {
  readonly #platform: Platform;
  readonly #patienceMs: () => number;
  readonly #onIdle: () => void;
  #since = 0;
  #ringsAt = 0;
  #callOff: (() => void) | undefined;

  constructor(platform: Platform, patienceMs: () => number, onIdle: () => void) {
    this.#platform = platform;
    this.#patienceMs = patienceMs;
    this.#onIdle = onIdle;
  }

  /** Begins the wait anew. The timer that runs is kept, unless it would ring too late. */
  touch(): void {
    this.#since = this.#platform.monotonic();
    const ms = this.#patienceMs();
    if (this.#callOff !== undefined && this.#ringsAt <= this.#since + ms) return;
    this.stop();
    this.#waitFor(ms);
  }

  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #waitFor(ms: number): void {
    this.#ringsAt = this.#platform.monotonic() + ms;
    this.#callOff = this.#platform.later(ms, () => {
      this.#callOff = undefined;
      const rest = this.#patienceMs() - (this.#platform.monotonic() - this.#since);
      if (rest > 0) this.#waitFor(rest);
      else this.#onIdle();
    });
  }
}

/** How many times longer than its last re-run a body may at least be quiet. */
const rerunsOfPatience = 10;

export interface RunTerms {
  /** When its record began to be read, by the monotonic clock. */
  readonly begunAt: number;
  /** False for a body that cannot run again, or whose tool keeps it in memory. */
  readonly maySuspend: boolean;
  /** The async context of the run: its steps run in it, as its function does. */
  readonly inContext: InContext;
}

/** Watches one run: how long it may be quiet, and whether it was so long enough and had to stay. */
export class RestWatch {
  readonly #platform: Platform;
  readonly #patience: Patience;
  readonly #terms: RunTerms;
  readonly #replayed: { readonly isLive: boolean };
  readonly #onQuiet: () => void;
  readonly #idle: IdleWatch;
  /** The time until all that is on record had happened again. */
  #rerunMs: number | undefined;
  #hadToStay = false;

  constructor(
    { platform, patience }: { readonly platform: Platform; readonly patience: Patience },
    terms: RunTerms,
    replayed: { readonly isLive: boolean },
    onQuiet: () => void,
  ) {
    this.#platform = platform;
    this.#patience = patience;
    this.#terms = terms;
    this.#replayed = replayed;
    this.#onQuiet = onQuiet;
    this.#idle = new IdleWatch(platform, () => this.#patienceMs, onQuiet);
  }

  get #patienceMs(): number {
    const { suspendMs, holdMs } = this.#patience;
    return this.#replayed.isLive ? Math.max(suspendMs, rerunsOfPatience * (this.#rerunMs ?? 0)) : holdMs;
  }

  /** Begins the wait anew. */
  touch(): void {
    if (this.#rerunMs === undefined && this.#replayed.isLive)
      this.#rerunMs = this.#platform.monotonic() - this.#terms.begunAt;
    this.#hadToStay = false;
    this.#idle.touch();
  }

  /** Lets the run leave memory, if its tool does; one that may not yet is asked for again. */
  leave(suspend: () => boolean): void {
    this.#hadToStay = this.#terms.maySuspend && !suspend();
  }

  /** Asks again for a run that had to stay. */
  retry(): void {
    if (this.#hadToStay) this.#onQuiet();
  }

  stop(): void {
    this.#hadToStay = false;
    this.#idle.stop();
  }
}
