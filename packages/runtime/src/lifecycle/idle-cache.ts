/** What is at rest stays in memory for a while, for there may be more to do; where there is much of it, not so long. */
import { type State, nextDeadline } from "@pawl/sansio-core";
import { ScopeLost } from "../error.ts";
import type { Platform } from "../platform.ts";
import type { Callers } from "../session/request.ts";
import type { ScopeClock } from "../scope/clock.ts";

/** A scope that is this instance's and is not in memory. */
export interface Evicted {
  /** Those who wait for its replies. */
  readonly callers?: Callers;
  /** Calls off its next deadline. */
  readonly callOff?: () => void;
  /** Its own time, where it has a deadline: that goes on while it is away, whatever the wall clock does. */
  readonly clock?: ScopeClock;
}
/** One object for all that nobody waits for: there may be very many. */
const justEvicted: Evicted = {};

/** Away until its next deadline, with those who wait for it. */
export const evictedUntil = (
  { state, clock }: { readonly state: State; readonly clock: ScopeClock },
  callers: Callers,
  platform: Platform,
  wake: () => void,
): Evicted => {
  const due = nextDeadline(state)?.at;
  if (callers.isEmpty && due === undefined) return justEvicted;
  return {
    ...(callers.isEmpty ? {} : { callers }),
    ...(due === undefined ? {} : { clock, callOff: platform.later(Math.max(0, due - clock.after(state.at)), wake) }),
  };
};

/** None of them is this instance's any more: those who wait are told. */
export const abandonEvicted = (evicted: Map<string, Evicted>, why: string): void => {
  for (const { callers, callOff } of evicted.values()) {
    callOff?.();
    callers?.abandon(new ScopeLost(why));
  }
  evicted.clear();
};

export interface Linger {
  /** How long something may be at rest in memory. */
  readonly ms: number;
  /** How many may be. */
  readonly most: number;
}
export const defaultLinger: Linger = { ms: 10_000, most: 1000 };

export class IdleCache<A> {
  readonly #platform: Platform;
  readonly #linger: Linger;
  readonly #leave: (one: A) => void;
  /** Since when, the longest first. */
  readonly #since = new Map<A, number>();
  #isWaiting = false;

  constructor(platform: Platform, linger: Linger, leave: (one: A) => void) {
    this.#platform = platform;
    this.#linger = linger;
    this.#leave = leave;
  }

  /** It is at rest as of now. */
  rest(one: A): void {
    this.#since.delete(one);
    this.#since.set(one, this.#platform.monotonic());
    this.#send();
  }

  forget(one: A): void {
    this.#since.delete(one);
  }

  /** Sends away those whose time is over, and waits for the next. */
  #send(): void {
    const { ms, most } = this.#linger;
    const now = this.#platform.monotonic();
    for (const [one, since] of this.#since) {
      if (since + ms > now && this.#since.size <= most) return this.#wait(since + ms - now);
      this.#since.delete(one);
      this.#leave(one);
    }
  }

  #wait(ms: number): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#platform.later(ms, () => {
      this.#isWaiting = false;
      this.#send();
    });
  }
}
