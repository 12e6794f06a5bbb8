/**
 * The clock of a simulated world. One thing happens at a time: a requested turn or, if there is none, the next timer,
 * to which time jumps. All promises that can settle do so in between.
 */
import type { Platform } from "@pawl/runtime/driver";
import { hashText } from "@pawl/tool-value";

/** Something in the world that acts until it dies. */
export interface Actor {
  readonly name: string;
  readonly isAlive: boolean;
  /** A frozen actor is not scheduled until it thaws. */
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

/** Picks one of the ready tasks. The first one has waited longest. */
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
 * Runs one task and lets all promises settle. Between two macrotasks that were queued together all microtasks run, and
 * in Node no event from outside arrives.
 */
const withPromises = async <A>(happen: () => A): Promise<A> => {
  const [begun, settled] = [aTask(), aTask()];
  await begun;
  const happened = happen();
  await settled;
  return happened;
};

/** The first time of every world. */
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

  /** Virtual milliseconds since the world began. */
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

  /** Resolves after a virtual delay if the actor still lives. */
  sleep(actor: Actor, ms: number): Promise<void> {
    return new Promise((resolve) => void this.later(actor, ms, resolve));
  }

  /** Returns the platform of an actor. */
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
   * Runs tasks until the world is done, no task is left, or `most` have run. `afterEach` is called after each task.
   * `atRest` is called when no turn is left, and returns whether it made something happen before time passes.
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

  /** Runs the next task, if any. */
  #happen(atRest: Running["atRest"]): boolean {
    const next = this.#nextTurn();
    next?.run();
    return next !== undefined || atRest() || this.#passTime();
  }

  /** Returns the time of the next timer that a matching actor has set. */
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
