/**
 * When a body leaves memory. A live run that only waits is suspended after it was quiet for `suspendMs`. Bringing it back
 * costs a re-run: one that takes longer than a tenth of that earns its body ten times as much patience.
 *
 *   last request or answer ── patience ──▶ may it be suspended? ── yes ──▶ it leaves memory
 *                                                └── no: it has to stay, and is asked for again as soon as its scope is
 *                                                    at rest after something else has changed
 *
 * The core decides, by its rows: what a body waits for may be at work, and come to rest long after the body did.
 */
import type { InContext, Platform } from "../platform.ts";

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
