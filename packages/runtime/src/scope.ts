/**
 * The interpreter of one scope: decode → step → append → perform and answer.
 *
 * Events are stepped as they come and appended together; commands of duty durable, and every answer that leaves, wait
 * until the event that they follow from is durable. When an append is refused or fails, the scope is lost: its bodies
 * are ended, its callers told, and whoever wants it claims it again.
 */
import {
  type Command,
  type Due,
  type Event,
  type Finished,
  type Rejection,
  type State,
  type Written,
  dutyOf,
  nextDeadline,
  outstanding,
  write,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { ScopeLost } from "./error.ts";
import type { AppendResult, Append } from "./journal.ts";
import type { Platform } from "./platform.ts";

/** What a scope needs of the runtime around it. */
export interface ScopePort {
  readonly platform: Platform;
  readonly append: (append: Append) => Promise<AppendResult>;
  /** What has just been stepped: what ends a body ends it before the next turn. */
  readonly stepped: (cause: Cause, commands: readonly Command[], finished: readonly Finished[]) => void;
  readonly perform: (command: Command, cause: Cause) => void;
  /** Delivers one answer to each body that may hear one; says whether there was any. */
  readonly deliver: () => boolean;
  readonly lost: (why: string) => void;
}

/** The event that a command follows from. */
export interface Cause {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

interface Stepped {
  readonly seq: number;
  readonly line: string;
  readonly finished: readonly Finished[];
}

interface Held {
  readonly command: Command;
  readonly cause: Cause;
}

interface Waiter {
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Turns with something to deliver, after which what is stepped is appended all the same. */
const turnsBeforeFlush = 64;

export class ScopeRunner {
  readonly id: string;
  readonly epoch: number;
  readonly #port: ScopePort;
  #state: State;
  #stepped: Stepped[] = [];
  #held: Held[] = [];
  #waiters: Waiter[] = [];
  #durable: number;
  #appends = 0;
  #isFlushing = false;
  #isScheduled = false;
  #isLost = false;
  #turns = 0;
  #callOff: (() => void) | undefined;
  #timerAt: number | undefined;
  /** Scope time and the monotonic clock at the last event: time goes on between events, and never back. */
  #elapsedFrom: number;

  constructor(state: State, epoch: number, port: ScopePort) {
    this.id = state.scope.id;
    this.epoch = epoch;
    this.#port = port;
    this.#state = state;
    this.#durable = state.seq;
    this.#elapsedFrom = port.platform.monotonic();
  }

  get state(): State {
    return this.#state;
  }
  /** The sequence of the last event that the store has acknowledged. */
  get durable(): number {
    return this.#durable;
  }
  get isLost(): boolean {
    return this.#isLost;
  }
  /** How many commits this scope has asked for. */
  get appends(): number {
    return this.#appends;
  }

  #at(): number {
    const { platform } = this.#port;
    const elapsed = platform.monotonic() - this.#elapsedFrom;
    return Math.max(Math.floor(platform.now()), this.#state.at + Math.floor(elapsed));
  }

  /** Steps an event. A rejection changes nothing. */
  tell(event: Event): E.Either<Rejection, Written> {
    const { result, cause } = this.#step(event);
    if (E.isLeft(result)) return result;
    this.#port.stepped(cause, result.right.commands, result.right.finished);
    for (const command of result.right.commands) this.#take(command, cause);
    this.stir();
    return result;
  }

  #step(event: Event): { readonly result: E.Either<Rejection, Written>; readonly cause: Cause } {
    const cause = { seq: this.#state.seq + 1, at: this.#at(), event };
    const result = write(this.#state, cause);
    if (E.isRight(result)) {
      const { state, line, finished } = result.right;
      this.#state = state;
      this.#elapsedFrom = this.#port.platform.monotonic();
      this.#stepped.push({ seq: cause.seq, line, finished });
    }
    return { result, cause };
  }

  #take(command: Command, cause: Cause): void {
    const { performed } = dutyOf(command);
    if (performed === "durable") this.#held.push({ command, cause });
    else this.#port.perform(command, cause);
  }

  /** Opens the scope: what it still asks of the world is issued again, once. */
  open(event: Event): void {
    const { result, cause } = this.#step(event);
    if (E.isLeft(result)) throw new ScopeLost(`scope ${this.id} can not be opened: ${result.left.message}`);
    this.#port.stepped(cause, [], result.right.finished);
    const observed = result.right.commands.filter(({ type }) => type === "observe");
    for (const command of [...observed, ...outstanding(this.#state)]) this.#take(command, cause);
    this.stir();
  }

  /** Resolves when all that has been stepped so far is durable; rejects when the scope is lost before. */
  settled(): Promise<void> {
    if (this.#isLost) return Promise.reject(new ScopeLost(`scope ${this.id} was lost`));
    const { seq } = this.#state;
    if (seq <= this.#durable) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ seq, resolve, reject });
      this.stir();
    });
  }

  /** Something may be due: a turn of its own looks after it. */
  stir(): void {
    if (this.#isScheduled || this.#isLost) return;
    this.#isScheduled = true;
    this.#port.platform.nextTurn(() => {
      this.#isScheduled = false;
      if (!this.#isLost) this.#turn();
    });
  }

  #turn(): void {
    const delivered = this.#port.deliver();
    this.#turns = delivered ? this.#turns + 1 : 0;
    if (delivered && this.#turns < turnsBeforeFlush) return this.stir();
    this.#turns = 0;
    if (delivered) this.stir();
    if (this.#stepped.length > 0) this.#flush();
    else this.#setTimer();
  }

  #flush(): void {
    if (this.#isFlushing) return;
    const batch = this.#stepped;
    const [first, last] = [batch[0], batch.at(-1)];
    if (first === undefined || last === undefined) return;
    this.#stepped = [];
    this.#isFlushing = true;
    this.#appends += 1;
    const append: Append = {
      scope: this.id,
      epoch: this.epoch,
      expectedSeq: first.seq,
      appendId: `${this.epoch}:${first.seq}`,
      lines: batch.map(({ seq, line }) => ({ seq, line })),
      finished: batch.flatMap(({ seq, finished }) => finished.map((one) => ({ seq, ...one }))),
      wakeAt: nextDeadline(this.#state)?.at,
      protocol: this.#state.scope.protocol,
      messages: [],
      received: [],
    };
    void this.#port.append(append).then(
      (result) => this.#appended(result, last.seq),
      (thrown: unknown) => this.lose(`append threw: ${thrown instanceof Error ? thrown.message : String(thrown)}`),
    );
  }

  #appended(result: AppendResult, seq: number): void {
    this.#isFlushing = false;
    if (this.#isLost) return;
    if (result.type !== "ok") return this.lose(`append was not taken: ${result.type}`);
    this.#durable = seq;
    const due = this.#held.filter(({ cause }) => cause.seq <= seq);
    this.#held = this.#held.filter(({ cause }) => cause.seq > seq);
    const told = this.#waiters.filter((waiter) => waiter.seq <= seq);
    this.#waiters = this.#waiters.filter((waiter) => waiter.seq > seq);
    for (const { command, cause } of due) this.#port.perform(command, cause);
    for (const { resolve } of told) resolve();
    this.stir();
  }

  /** The suffix that was not acknowledged is void, and so is all that was made of it. */
  lose(why: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#callOff?.();
    const error = new ScopeLost(`scope ${this.id} was lost: ${why}`);
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters = [];
    this.#held = [];
    this.#port.lost(why);
  }

  /** One timer a scope: for its next deadline. */
  #setTimer(): void {
    const due: Due | undefined = nextDeadline(this.#state);
    if (due?.at === this.#timerAt) return;
    this.#callOff?.();
    this.#timerAt = due?.at;
    this.#callOff = undefined;
    if (due === undefined) return;
    this.#callOff = this.#port.platform.later(Math.max(0, due.at - this.#at()), () => {
      this.#timerAt = undefined;
      if (!this.#isLost && due.at <= this.#at()) this.tell({ type: "clock.ticked" });
      else this.stir();
    });
  }
}
