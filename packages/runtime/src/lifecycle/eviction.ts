/**
 * Eviction: which scopes leave memory. Work under way holds a scope, and so does a state that asks for more. A scope at
 * rest stays for some seconds in an idle cache, since more work may follow; beyond a number of scopes the longest idle one
 * is evicted at once. An evicted scope keeps its waiting callers and its next deadline, and nothing else.
 */
import { type CallRef, type Command, type State, nextDeadline, outstanding } from "@pawl/sansio-core";
import { ScopeLost } from "../error.ts";
import type { Platform } from "../platform.ts";
import type { Callers } from "../session/callers.ts";
import type { ScopeClock } from "../scope/clock.ts";
import { type CallRow, bodyOf, isExecutor } from "@pawl/sansio-core/driver";

/** Work under way that nothing but memory knows of. */
export class UnderWay {
  readonly #over: () => void;
  #count = 0;

  /** `over`: nothing is under way any more. */
  constructor(over: () => void) {
    this.#over = over;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  counted<Of extends readonly unknown[], A>(work: (...of: Of) => Promise<A>): (...of: Of) => Promise<A> {
    return (...of) => this.during(work(...of));
  }

  async during<A>(work: Promise<A>): Promise<A> {
    this.#count += 1;
    try {
      return await work;
    } finally {
      this.#count -= 1;
      if (this.#count === 0) this.#over();
    }
  }
}

const inMemory: ReadonlySet<CallRow["phase"]> = new Set(["running", "no_executor", "no_tool"]);

/** Says whether a model is asked, or told to stop. */
const asksModel = ({ conversation: { running } }: State): boolean =>
  running?.phase.type === "asking" || running?.phase.type === "stopping";

/**
 * Says whether a state asks for nothing more: no call runs, and nothing is owed but replies, and answers of people whom
 * the host has asked.
 */
export const isAtRest = (state: State): boolean =>
  !state.calls.rows().some(({ phase }) => inMemory.has(phase)) &&
  !asksModel(state) &&
  outstanding(state).every(({ type }) => type === "reply" || type === "host.request");

export const isClientSide = ({ calls }: State, { call }: { readonly call: CallRef }): boolean => {
  const row = calls.at(call);
  return row !== undefined && bodyOf(row)?.manifest.policy === "client_side";
};

/** Says whether an executor has a call, or the call waits for one. */
export const isOffered = (row: CallRow): boolean =>
  row.phase === "no_executor" || (row.phase === "running" && isExecutor(row.owner));

const ends: ReadonlySet<string> = new Set(["call_completed", "call_unknown"]);

/** Returns the calls whose bodies end with these commands: they are over or parked, or begin anew. */
export const endedIn = (commands: readonly Command[]): readonly CallRef[] => {
  const ended: CallRef[] = [];
  for (const command of commands) {
    const isEnd = command.type === "observe" && ends.has(command.what);
    if (isEnd || command.type === "tool.execute") ended.push(command.call);
  }
  return ended;
};

/** A scope that this instance owns and does not hold in memory. */
export interface Evicted {
  /** Callers that wait for its replies. */
  readonly callers?: Callers;
  /** Cancels its next deadline. */
  readonly callOff?: () => void;
  /** The scope's own clock, if it has a deadline. It runs on while the scope is evicted, whatever the wall clock does. */
  readonly clock?: ScopeClock;
}

/** Shared by all scopes that nobody waits for: there may be very many. */
const justEvicted: Evicted = {};

/** Evicts a scope until its next deadline, and keeps its callers. */
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

/** Gives up all evicted scopes, and rejects their callers. */
export const abandonEvicted = (evicted: Map<string, Evicted>, why: string): void => {
  for (const { callers, callOff } of evicted.values()) {
    callOff?.();
    callers?.abandon(new ScopeLost(why));
  }
  evicted.clear();
};

export interface Linger {
  /** Milliseconds that a scope may rest in memory. */
  readonly ms: number;
  /** The number of scopes that may rest in memory. */
  readonly most: number;
}
export const defaultLinger: Linger = { ms: 10_000, most: 1000 };

export class IdleCache<A> {
  readonly #platform: Platform;
  readonly #linger: Linger;
  readonly #leave: (one: A) => void;
  /** The start of each rest, the longest first. */
  readonly #since = new Map<A, number>();
  #isWaiting = false;

  constructor(platform: Platform, linger: Linger, leave: (one: A) => void) {
    this.#platform = platform;
    this.#linger = linger;
    this.#leave = leave;
  }

  /** Starts the rest of a scope anew. */
  rest(one: A): void {
    this.#since.delete(one);
    this.#since.set(one, this.#platform.monotonic());
    this.#evict();
  }

  forget(one: A): void {
    this.#since.delete(one);
  }

  /** Evicts scopes whose time is over, and waits for the next. */
  #evict(): void {
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
      this.#evict();
    });
  }
}
