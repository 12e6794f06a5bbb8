/**
 * Those who watch a scope: from a cursor on, first from the log and then as it grows. Each has a buffer of its own with
 * a bound; one who is too slow misses what does not fit, is told so, and holds nobody.
 */
import type { Command, State } from "@pawl/sansio-core";
import type { Access } from "../../scope/access.ts";
import { Refused, aheadOf, errorOf } from "../../error.ts";
import { type Cursor, type Ephemeral, type Frame, type Observed, observedIn } from "./observation.ts";
import { observePast } from "./log-page.ts";
import type { Cause } from "../../scope/runner.ts";
import type { Telemetry } from "../../log.ts";
import type { ScopeStore } from "../../scope/scope-store.ts";
import type { Values } from "../../scope/large-values.ts";

/** Bounds the frames that wait for a slow observer; beyond that it is told of a gap. */
const defaultObserverBuffer = 1024;

export interface ObserveOptions {
  /** Cursor of the last observation that was seen; without it observing begins now. */
  readonly from?: Cursor;
  /** Frames that wait to be taken, at most. */
  readonly buffer?: number;
}

interface Gap {
  readonly from: Cursor;
  readonly to: Cursor;
}

/** One observer's bounded queue of frames. Not to be iterated twice at a time. */
export class Subscription implements AsyncIterableIterator<Frame> {
  readonly #max: number;
  readonly #leave: (subscription: Subscription) => void;
  #past: AsyncGenerator<Frame> | undefined;
  readonly #queue: Frame[] = [];
  #gap: Gap | undefined;
  /** Observations that were not recorded, and came while a gap was to be told. */
  #missed = 0;
  #error: Error | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(max: number, past: AsyncGenerator<Frame> | undefined, leave: (subscription: Subscription) => void) {
    this.#max = max;
    this.#past = past;
    this.#leave = leave;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Queues a frame. One that does not fit widens the gap, and nothing is queued behind a gap until it was told. */
  push(frame: Observed): void {
    if (this.#gap === undefined && this.#queue.length < this.#max) this.#queue.push(frame);
    else this.#gap = { from: this.#gap?.from ?? frame.cursor, to: frame.cursor };
    this.#wakeTaker();
  }

  /** Queues what is not recorded. What does not fit is counted, and its place is told. */
  pushEphemeral(observation: Ephemeral): void {
    if (this.#gap !== undefined) this.#missed += 1;
    else if (this.#queue.length < this.#max) this.#queue.push({ type: "ephemeral", observation });
    else this.#miss();
    this.#wakeTaker();
  }

  #miss(): void {
    const last = this.#queue.at(-1);
    const before = last?.type === "missed" ? last.count : 0;
    if (before > 0) this.#queue.pop();
    this.#queue.push({ type: "missed", count: before + 1 });
  }

  /** Ends the subscription: what was queued is still told, then this error. */
  end(error: Error): void {
    this.#error = error;
    this.#wakeTaker();
  }

  #wakeTaker(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #take(): Frame | undefined {
    const frame = this.#queue.shift();
    if (frame !== undefined || this.#gap === undefined) return frame;
    const gap = this.#gap;
    this.#gap = undefined;
    if (this.#missed > 0) this.#queue.push({ type: "missed", count: this.#missed });
    this.#missed = 0;
    return { type: "gap", ...gap };
  }

  async next(): Promise<IteratorResult<Frame>> {
    try {
      return await this.#next();
    } catch (thrown) {
      this.#fail(thrown);
      throw thrown;
    }
  }

  /** Nobody leaves what has thrown: a loop over it only ends. What was queued would follow on a hole. */
  #fail(thrown: unknown): void {
    this.#error = errorOf(thrown);
    this.#past = undefined;
    this.#queue.length = 0;
    this.#gap = undefined;
    this.#missed = 0;
    this.#leave(this);
  }

  async #next(): Promise<IteratorResult<Frame>> {
    const past = await this.#past?.next();
    if (past?.done === false) return past;
    this.#past = undefined;
    for (;;) {
      const frame = this.#take();
      if (frame !== undefined) return { done: false, value: frame };
      if (this.#isOver) return { done: true, value: undefined };
      if (this.#error !== undefined) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Frame>> {
    this.#isOver = true;
    this.#leave(this);
    this.#wakeTaker();
    await this.#past?.return(undefined);
    return { done: true, value: undefined };
  }
}

interface Durable {
  readonly whenDurable: () => Promise<void>;
  readonly state: State;
}

const endAll = (watching: readonly Subscription[], thrown: unknown): void => {
  for (const subscription of watching) subscription.end(errorOf(thrown));
};

const pastAfter = (access: Access, after: Cursor): AsyncGenerator<Frame> => {
  const { id, state } = access.runner;
  if (after.scope !== id)
    throw new Refused("foreign_cursor", `the cursor is of \`${after.scope}\`, and this is \`${id}\``);
  if (after.seq > state.seq) throw aheadOf(id, state.seq, after.seq);
  return observePast(access, after, state.seq);
};

export class Observers {
  readonly #scope: string;
  readonly #telemetry: Telemetry | undefined;
  readonly #values: Values;
  readonly #left: () => void;
  readonly #subscriptions = new Set<Subscription>();

  /** Calls `left` when one who watched does so no more. */
  constructor({ scope, values }: ScopeStore, telemetry: Telemetry | undefined, left: () => void) {
    this.#scope = scope;
    this.#telemetry = telemetry;
    this.#values = values;
    this.#left = left;
  }

  get isEmpty(): boolean {
    return this.#subscriptions.size === 0;
  }

  /** Shows an event and its commands to observers, once it is durable. */
  stepped(cause: Cause, commands: readonly Command[], scope: Durable): void {
    this.#telemetry?.stepped(this.#scope, cause, commands, scope.state);
    if (this.#subscriptions.size === 0) return;
    const frames = observedIn(this.#scope, cause, commands);
    if (frames.length === 0) return;
    this.#whenDurable(scope, frames, (subscription, shown) => {
      for (const frame of shown) subscription.push(frame);
    });
  }

  /** Shows an observation that is not recorded, after everything that was stepped before it. */
  tell(observation: Ephemeral, scope: Durable): void {
    if (this.#subscriptions.size === 0) return;
    this.#whenDurable(scope, undefined, (subscription) => subscription.pushEphemeral(observation));
  }

  /** Tells those who watch now, one thing after the other. */
  #whenDurable<A>(scope: Durable, what: A, tell: (subscription: Subscription, shown: A) => void): void {
    const watching = [...this.#subscriptions];
    const each = (shown: A): void => {
      for (const subscription of watching) tell(subscription, shown);
    };
    void scope.whenDurable().then(
      () => this.#values.inOrder(what, each, (thrown) => endAll(watching, thrown)),
      () => undefined, // The scope is lost, and so is what was not durable: `end` tells.
    );
  }

  end(error: Error): void {
    this.#telemetry?.lost(this.#scope, error);
    for (const subscription of this.#subscriptions) subscription.end(error);
    this.#subscriptions.clear();
  }

  /** Watches from now on, after what the log has to tell behind a cursor. */
  watch(access: Access, { from, buffer = defaultObserverBuffer }: ObserveOptions): Subscription {
    const past = from && pastAfter(access, from);
    const subscription = new Subscription(buffer, past, (leaving) => this.#leave(leaving));
    this.#subscriptions.add(subscription);
    return subscription;
  }

  #leave(subscription: Subscription): void {
    if (this.#subscriptions.delete(subscription)) this.#left();
  }
}
