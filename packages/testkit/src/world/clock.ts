/**
 * The clock of a simulated world. Nothing happens but by it, one thing at a time: a turn that somebody asked for, or,
 * when no turn is left, the next timer, to which time jumps. Between two things all promises that can settle do.
 */
import type { Platform } from "@pawl/runtime";
import { hashText } from "@pawl/tool-value";

/** Somebody in the world to whom things happen until they die. */
export interface Actor {
  readonly name: string;
  readonly isAlive: boolean;
  /** It stands still: what would happen to it waits until it does not. */
  readonly isFrozen?: boolean;
}

interface Task {
  readonly actor: Actor;
  readonly run: () => void;
}
interface Timer extends Task {
  readonly at: number;
  readonly born: number;
}

const isMoving = ({ actor }: Task): boolean => actor.isFrozen !== true;

/** Which of so many ready tasks comes next; the one that waits longest is the first. */
export type Pick = (count: number) => number;
/** Picks the first of all that can happen. */
export const inOrder: Pick = () => 0;

export interface Running {
  readonly isDone: () => boolean;
  readonly afterEach: () => void;
  readonly atRest: () => boolean;
  readonly most: number;
}

/** How a run of the clock ended. */
export type Ended = "done" | "quiet" | "exhausted";

const { setImmediate: immediate } = globalThis as { readonly setImmediate?: (then: () => void) => void };

const byMessage = (then: () => void): void => {
  const { port1, port2 } = new MessageChannel();
  const arrived = (): void => {
    port1.close();
    then();
  };
  port1.addEventListener("message", arrived, { once: true });
  port1.start();
  port2.postMessage(undefined);
};

const aTask = (): Promise<void> =>
  new Promise((resolve) => {
    (immediate ?? byMessage)(resolve);
  });

/**
 * Lets one thing happen, and every promise settle that can: between two tasks that were asked for at once, all
 * microtasks run to their end, and in Node nothing arrives from outside, however soon it would.
 */
const withPromises = async <A>(happen: () => A): Promise<A> => {
  const [begun, settled] = [aTask(), aTask()];
  await begun;
  const happened = happen();
  await settled;
  return happened;
};

/** A moment like any other to begin at: the same in every run. */
const beginning = 1_700_000_000_000;

/** Keeps a time that passes only when the world lets it. */
export class VirtualClock {
  readonly #pick: Pick;
  #now = beginning;
  #born = 0;
  #turns: Task[] = [];
  #timers: Timer[] = [];

  constructor(pick: Pick = inOrder) {
    this.#pick = pick;
  }

  get now(): number {
    return this.#now;
  }

  /** Since the world began. */
  get elapsed(): number {
    return this.#now - beginning;
  }

  turn(actor: Actor, run: () => void): void {
    this.#turns.push({ actor, run });
  }

  later(actor: Actor, ms: number, run: () => void): () => void {
    const timer: Timer = { actor, run, at: this.#now + Math.max(0, Math.ceil(ms)), born: (this.#born += 1) };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Resolves after so many milliseconds, if whoever waits still lives then. */
  sleep(actor: Actor, ms: number): Promise<void> {
    return new Promise((resolve) => void this.later(actor, ms, resolve));
  }

  /** The platform of one actor. */
  platformOf(actor: Actor): Platform {
    return {
      now: () => this.#now,
      monotonic: () => this.#now,
      nextTurn: (then) => this.turn(actor, then),
      later: (ms, then) => this.later(actor, ms, then),
      hashText,
    };
  }

  /**
   * Lets things happen until it is done, nothing is left to happen, or so many things have. `afterEach` sees every thing
   * that happened; `atRest` is asked, when no turn is left, whether there is something to do before time passes.
   */
  async run({ isDone, afterEach, atRest, most }: Running): Promise<Ended> {
    await aTask();
    for (let things = 0; things < most; things++) {
      afterEach();
      if (isDone()) return "done";
      if (!(await withPromises(() => this.#happen(atRest)))) return "quiet";
    }
    return "exhausted";
  }

  /** The next thing, if anything is left to happen. */
  #happen(atRest: Running["atRest"]): boolean {
    const next = this.#nextTurn();
    next?.run();
    return next !== undefined || atRest() || this.#passTime();
  }

  /** When the next timer rings that is set by somebody like this. */
  nextTimerAt(isWanted: (actor: Actor) => boolean): number | undefined {
    const moving = this.#timers.filter(isMoving);
    const at = moving.filter(({ actor }) => actor.isAlive && isWanted(actor)).map((timer) => timer.at);
    return at.length === 0 ? undefined : Math.min(...at);
  }

  #passTime(): boolean {
    const timer = this.#nextTimer();
    timer?.run();
    return timer !== undefined;
  }

  #nextTurn(): Task | undefined {
    this.#turns = this.#turns.filter(({ actor }) => actor.isAlive);
    const moving = this.#turns.filter(isMoving);
    const firsts = moving.filter(({ actor }, i) => moving.findIndex((turn) => turn.actor === actor) === i);
    const picked = firsts[firsts.length < 2 ? 0 : this.#pick(firsts.length)];
    this.#turns = this.#turns.filter((turn) => turn !== picked);
    return picked;
  }

  #nextTimer(): Task | undefined {
    this.#timers = this.#timers.filter(({ actor }) => actor.isAlive);
    const [next] = this.#timers.filter(isMoving).toSorted((a, b) => a.at - b.at || a.born - b.born);
    if (next === undefined) return undefined;
    this.#timers = this.#timers.filter((timer) => timer !== next);
    this.#now = Math.max(this.#now, next.at);
    return next;
  }
}
