/**
 * The interpreter of one scope: decode → step → append → perform and answer.
 *
 * Events are stepped as they come and appended together; commands of duty durable, and every answer that leaves, wait
 * until the event that they follow from is durable. When an append is refused or fails, the scope is lost: its bodies
 * are ended, its callers told, and whoever wants it claims it again.
 */
import {
  type Command,
  type Event,
  type Rejection,
  type State,
  dutyOf,
  nextDeadline,
  outstanding,
  write,
} from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { ScopeLost } from "../error.ts";
import type { Append, AppendResult, InboxMessage, OutboxMessage } from "../journal/journal.ts";
import { DeferredEvents, type Told } from "./deferred-event.ts";
import { outboxMessageOf } from "./message.ts";
import { mayWait } from "./not-stored.ts";
import { soonMs } from "../platform.ts";
import type { ScopeClock } from "./clock.ts";
import type { ScopePort } from "./runner-port.ts";
import {
  type Cause,
  type Uncommitted,
  type WaitingCommand,
  addressees,
  appendOf,
  hasContent,
  nothingUncommitted,
  waitOrLeave,
} from "./uncommitted.ts";
import type { News } from "../body/replay-order.ts";
import type { Member } from "./commit-loop.ts";

export type { Cause } from "./uncommitted.ts";

export class ScopeRunner implements Member {
  readonly id: string;
  readonly epoch: number;
  readonly #port: ScopePort;
  #state: State;
  /** What was stepped since the last append was made. */
  #uncommitted = nothingUncommitted();
  /** What is being appended, and the state after it. */
  #inFlight: { readonly uncommitted: Uncommitted; readonly state: State } | undefined;
  #durable: State;
  readonly #deferred: DeferredEvents;
  #isAbandoned = false;
  #callOff: (() => void) | undefined;
  #timerAt: number | undefined;
  /** How many approvals are wanted as far as its store was told, where that is known. */
  #approvals: number | undefined;
  readonly clock: ScopeClock;

  constructor(state: State, epoch: number, port: ScopePort) {
    this.id = state.scope.id;
    this.epoch = epoch;
    this.#port = port;
    this.#deferred = new DeferredEvents(this, port.fault);
    this.#state = state;
    this.#durable = state;
    this.#approvals = state.awaitingApproval;
    this.clock = port.clock;
  }

  get state(): State {
    return this.#state;
  }
  /** The newest state that is durable. */
  get durable(): State {
    return this.#durable;
  }
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  #at(): number {
    return this.clock.after(this.#state.at);
  }

  #cause(event: Event): Cause {
    return { seq: this.#state.seq + 1, at: this.#at(), event };
  }

  /** Steps an event, with `storedForm` in its place in the log where its values are stored. A rejection changes nothing. */
  apply(event: Event, storedForm?: Event): E.Either<Rejection, Told> {
    if (this.#isAbandoned) throw new ScopeLost(`scope ${this.id} was lost`);
    const cause = this.#cause(event);
    const result = this.#step(cause, storedForm);
    if (E.isLeft(result) || result.right.later !== undefined) return result;
    const { commands, finished } = result.right;
    this.#port.stepped(cause, commands, finished);
    for (const command of commands) this.#take(command, cause);
    this.schedule();
    return result;
  }

  /** Large values are put aside first, and durable before the event that names them. */
  #write(cause: Cause, storedForm?: Event): E.Either<Rejection, Told> {
    if (storedForm !== undefined) return write(this.#state, { ...cause, event: storedForm });
    const result = write(this.#state, cause);
    if (E.isLeft(result)) return result;
    const offloaded = this.#port.values.offload(cause.event, this.#state, result.right.line);
    if (offloaded === undefined) return result;
    if (mayWait(cause.event)) return this.#deferred.add(cause.event, offloaded, result.right);
    const uncommitted = this.#uncommitted;
    uncommitted.putting += 1;
    offloaded.stored.then(
      () => {
        uncommitted.putting -= 1;
        this.schedule();
      },
      (thrown: unknown) => this.abandon(`a value could not be put aside: ${String(thrown)}`),
    );
    return write(this.#state, { ...cause, event: offloaded.event });
  }

  #step(cause: Cause, storedForm?: Event): E.Either<Rejection, Told> {
    const result = this.#write(cause, storedForm);
    if (E.isLeft(result) || result.right.later !== undefined) return result;
    const { state, line, finished } = result.right;
    const { seq } = cause;
    this.#state = state;
    this.clock.stepped();
    this.#uncommitted.lines.push({ seq, line });
    this.#uncommitted.characters += line.length;
    for (const one of finished) this.#uncommitted.finished.push({ seq, ...one });
    return result;
  }

  #take(command: Command, cause: Cause): void {
    const letter = outboxMessageOf(this.id, command);
    if (letter !== undefined) this.#uncommitted.messages.push(letter);
    const { performed } = dutyOf(command);
    const isNow = performed === "at_once" || (performed === "when_leased" && this.#port.isLeased());
    if (isNow) this.#port.perform(command, cause);
    else this.#uncommitted.waitingForCommit.push({ command, cause });
  }

  /** A letter that no event asks for: something is said once more. */
  say(letter: OutboxMessage): void {
    this.#uncommitted.messages.push(letter);
    this.schedule();
  }

  /** A letter of its inbox is done with, by what has just been told. */
  done(letter: InboxMessage): void {
    this.#uncommitted.received.push(letter);
    this.schedule();
  }

  /** Opens the scope: what it still asks of the world is issued again, once. */
  open(event: Event): void {
    const cause = this.#cause(event);
    if (cause.seq > 1) this.#approvals = undefined; // A driver that tells nothing of them may have been here.
    const result = this.#step(cause);
    if (E.isLeft(result)) throw new ScopeLost(`scope ${this.id} can not be opened: ${result.left.message}`);
    this.#port.stepped(cause, [], result.right.finished);
    const observed = result.right.commands.filter(({ type }) => type === "observe");
    for (const command of [...observed, ...outstanding(this.#state)]) this.#take(command, cause);
    this.schedule();
  }

  /**
   * Resolves once event `seq` is durable (it may not exist yet), or when `signal` aborts; without a `seq`, once everything
   * that has been stepped is durable. Rejects when the scope is abandoned before that.
   */
  whenDurable(seq?: number, signal?: AbortSignal): Promise<void> {
    const deferred = seq === undefined ? this.#deferred.over : undefined;
    if (deferred !== undefined) return deferred.then(() => this.whenDurable());
    if (this.#isAbandoned) return Promise.reject(new ScopeLost(`scope ${this.id} was lost`));
    const uncommitted = signal?.aborted === true ? undefined : this.#uncommittedOf(seq);
    if (uncommitted === undefined) return Promise.resolve();
    if (signal !== undefined) return waitOrLeave(uncommitted.waiters, signal, () => this.schedule());
    return new Promise((resolve, reject) => void uncommitted.waiters.push({ resolve, reject }));
  }

  /** Returns what makes event `seq`, or everything, durable; undefined where it is durable already. */
  #uncommittedOf(seq?: number): Uncommitted | undefined {
    const inFlight = this.#inFlight;
    if (seq === undefined) return hasContent(this.#uncommitted) ? this.#uncommitted : inFlight?.uncommitted;
    if (seq <= this.#durable.seq) return undefined;
    return inFlight !== undefined && seq <= inFlight.state.seq ? inFlight.uncommitted : this.#uncommitted;
  }

  /** Whether somebody waits for an event that is still to come. */
  get isAwaited(): boolean {
    return this.#uncommitted.waiters.length > 0;
  }

  /** Whether the store has all of it: events, and letters without any. */
  get isDurable(): boolean {
    return this.#inFlight === undefined && !hasContent(this.#uncommitted);
  }

  /** Something may be due: a turn looks after it. */
  schedule(): void {
    if (!this.#isAbandoned) this.#port.schedule(this);
  }

  deliver(): boolean {
    return !this.#isAbandoned && this.#port.deliver();
  }

  readonly news = (): News => (this.#isAbandoned ? "none" : this.#port.news());

  nextAppend(): Append | undefined {
    const [uncommitted, state, told] = [this.#uncommitted, this.#state, this.#approvals];
    if (!hasContent(uncommitted) || uncommitted.putting > 0 || this.#isAbandoned) return undefined;
    if (uncommitted.lines.length > 0) this.#approvals = state.awaitingApproval;
    this.#uncommitted = nothingUncommitted();
    this.#inFlight = { uncommitted, state };
    return appendOf(uncommitted, state, this.epoch, told);
  }

  appended(result: AppendResult): void {
    const inFlight = this.#inFlight;
    if (this.#isAbandoned || inFlight === undefined) return;
    if (result.type === "full")
      this.#port.values.refused(Math.max(...inFlight.uncommitted.lines.map(({ line }) => line.length)));
    if (result.type !== "ok") return this.abandon(`append was not taken: ${result.type}`);
    this.#inFlight = undefined;
    this.#durable = inFlight.state;
    try {
      this.#act(inFlight);
    } finally {
      for (const { resolve } of inFlight.uncommitted.waiters) resolve(); // It is durable, whatever went wrong behind it.
    }
  }

  #act({ uncommitted, state }: { readonly uncommitted: Uncommitted; readonly state: State }): void {
    this.#port.durable(state, uncommitted.characters);
    for (const to of addressees(uncommitted)) this.#port.sent(to);
    for (let i = 0; i < uncommitted.waitingForCommit.length && this.mayAct(); i++) {
      const { command, cause } = uncommitted.waitingForCommit[i] as WaitingCommand;
      this.#port.perform(command, cause);
    }
  }

  /** Whether anything may be done for it outside: a process that stood still may find the scope to be another's. */
  mayAct(): boolean {
    if (this.#port.hasLapsed()) this.abandon("its lease may have run out");
    return !this.#isAbandoned;
  }

  /** Whether time is about to answer somebody: a body that is dropped now would not hear it. */
  get isDue(): boolean {
    const due = nextDeadline(this.#state)?.at;
    return due !== undefined && due <= this.#at() + soonMs;
  }

  rest(): void {
    if (this.#isAbandoned || this.#uncommitted.lines.length > 0) return;
    const due = nextDeadline(this.#state)?.at;
    if (due !== undefined && due <= this.#at()) return void this.apply({ type: "clock.ticked" });
    this.#setAlarm(due);
    this.#port.rest();
  }

  /** Abandons the scope: what was stepped and not acknowledged is void, and so is everything that was made of it. */
  abandon(why: string): void {
    if (this.#isAbandoned) return;
    this.#isAbandoned = true;
    this.#deferred.end();
    this.#callOff?.();
    const error = new ScopeLost(`scope ${this.id} was lost: ${why}`);
    const waiters = [...(this.#inFlight?.uncommitted.waiters ?? []), ...this.#uncommitted.waiters];
    const addressed = addressees(this.#inFlight?.uncommitted);
    this.#uncommitted = nothingUncommitted();
    this.#inFlight = undefined;
    for (const { reject } of waiters) reject(error);
    this.#port.lost(why);
    for (const to of addressed) this.#port.sent(to); // Their letters may lie there all the same.
  }

  /** Nothing comes after what was stepped: resolves when that is durable. */
  async close(): Promise<void> {
    if (this.#isAbandoned) return;
    this.schedule();
    await this.whenDurable();
    this.abandon("the runtime was closed");
  }

  /** Leaves memory; nothing is lost by it. Whoever still has it in hand is told to open the scope again. */
  leave(): void {
    this.#isAbandoned = true;
    this.#deferred.end();
    this.#callOff?.();
  }

  #setAlarm(due: number | undefined): void {
    if (due === this.#timerAt) return;
    this.#callOff?.();
    this.#timerAt = due;
    const ring = (): void => {
      this.#timerAt = undefined;
      this.#callOff = undefined;
      this.schedule();
    };
    this.#callOff = due === undefined ? undefined : this.#port.platform.later(due - this.#at(), ring);
  }
}
