/**
 * Runs one scope: the loop between the pure core and the scope's store, and the place where order is decided.
 *
 * The core is a function: (state, event) gives the next state, one line for the log, commands, and ids that have left the
 * state. The runner feeds it and sees to the rest. Its method is that of `Ready` in etcd's raft: collect what is to be
 * written, write it in one batch, and only then do what has to wait for the write.
 *
 *            apply               nextAppend              appended: ok
 *    event ────────► uncommitted ──────────► in flight ──────────────► durable
 *      │                  │                      │
 *      │ large values     │ at once              │ fenced, full, failed; or the lease has lapsed
 *      ▼                  ▼                      ▼
 *    deferred          performed             abandoned: all that was not durable is void
 *
 * A turn of the commit loop (see there) goes through these methods in this order:
 *
 *    deliverNext   bodies hear one answer each, and apply the events that they ask for thereupon.
 *    nextAppend    everything uncommitted becomes one append. One append of a scope is in flight at a time.
 *    appended      1. the durable state moves on         2. receivers of messages are told to look
 *                  3. waiting commands are performed     4. `whenDurable` resolves
 *    rest          with nothing to deliver and nothing to append: a deadline that has passed becomes an event, or an
 *                  alarm is set for the next one, and the scope may leave memory.
 *
 * Order, and the reasons for it:
 *
 *  - The state is new as soon as an event is stepped. The next event is stepped on top of it, durable or not; so nothing
 *    in the process ever sees two states, and a crash loses the end of the log, never a part in its middle.
 *  - `stepped` comes before any command of the same event: a command that ends a body ends it before the body is
 *    handed anything more.
 *  - A command of duty `at_once` may run before its event is durable. It is safe to repeat, and what comes of it is an
 *    event again, which lies behind its cause in the same log. One of duty `durable` waits: it has effects outside that
 *    a crash must not forget. `when_leased` is at once while this instance owns the scope and the body heard what lasts.
 *  - Commands that wait are performed in the order of their events, and the rest of them not at all once the scope is
 *    abandoned: the next owner finds them in the state (`outstanding`).
 *  - Every answer to the outside waits for `whenDurable`, also one that only read: what it read may still be lost.
 *  - A large value is durable before the line that names it (`putting` holds the append back). An event that nobody
 *    expects at once is not even stepped before (`deferred`): a value that cannot be stored then costs one event, and
 *    not the scope.
 *  - Commands are performed before waiters resolve: whoever waited for the end of a request finds its reply handed out.
 *
 * There is one way to fail. An append that is not taken, a lapsed lease, an invariant broken or a value lost all lead to
 * `abandon`: bodies are ended as if by a crash, callers are told, and whoever wants the scope claims it again. Nothing is
 * retried here, because after a failed append nobody knows whether it was written. The log does.
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
import { ScopeLost, openingRefused, textOf } from "../error.ts";
import type { Append, AppendResult, InboxMessage, OutboxMessage } from "../journal/journal.ts";
import { type Told, DeferredEvents, mayWait } from "./offload.ts";
import { outboxMessageOf } from "../message/inbox.ts";
import { soonMs } from "../platform.ts";
import { type ScopeClock, DeadlineAlarm } from "./clock.ts";
import type { ScopeStore } from "./scope-store.ts";
import { type Batch, type Cause, addressees, Uncommitted } from "../commit/uncommitted.ts";
import { type Interpreter, PerformQueue } from "./perform-queue.ts";
import type { News } from "../body/replay.ts";
import type { Member } from "../commit/commit-loop.ts";
import type { Instance } from "../session/instance.ts";

export type { Cause } from "../commit/uncommitted.ts";

export class ScopeRunner implements Member {
  readonly id: string;
  readonly epoch: number;
  readonly #instance: Instance;
  readonly #store: ScopeStore;
  readonly #interpreter: Interpreter;
  #state: State;
  readonly #uncommitted: Uncommitted;
  readonly #deferred: DeferredEvents;
  readonly #toPerform: PerformQueue;
  #isAbandoned = false;
  readonly #alarm: DeadlineAlarm;
  readonly clock: ScopeClock;

  constructor(state: State, instance: Instance, store: ScopeStore, interpreter: Interpreter) {
    this.id = state.scope.id;
    this.epoch = store.epoch;
    this.#instance = instance;
    this.#store = store;
    this.#interpreter = interpreter;
    this.#deferred = new DeferredEvents(this, store.fault);
    this.#state = state;
    this.#uncommitted = new Uncommitted(state);
    this.#toPerform = new PerformQueue(interpreter, () => this.mayAct());
    this.#alarm = new DeadlineAlarm(instance.platform, () => this.schedule());
    this.clock = store.clock;
  }

  get state(): State {
    return this.#state;
  }
  get durable(): State {
    return this.#uncommitted.durable;
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
    this.#interpreter.stepped(cause, commands, finished);
    for (const command of commands) this.#take(command, cause);
    this.schedule();
    return result;
  }

  /**
   * Writes an event's line, with references in the place of large values. They are durable before the line is appended.
   */
  #write(cause: Cause, storedForm?: Event): E.Either<Rejection, Told> {
    if (storedForm !== undefined) return write(this.#state, { ...cause, event: storedForm });
    const result = write(this.#state, cause);
    if (E.isLeft(result)) return result;
    const offloaded = this.#store.values.offload(cause.event, this.#state, result.right.line);
    if (offloaded === undefined) return result;
    if (mayWait(cause.event)) return this.#deferred.add(cause.event, offloaded, result.right);
    const { batch } = this.#uncommitted;
    batch.putting += 1;
    offloaded.stored.then(
      () => {
        batch.putting -= 1;
        this.schedule();
      },
      (thrown: unknown) => this.abandon(`a value could not be put aside: ${textOf(thrown)}`),
    );
    return write(this.#state, { ...cause, event: offloaded.event });
  }

  #step(cause: Cause, storedForm?: Event): E.Either<Rejection, Told> {
    const result = this.#write(cause, storedForm);
    if (E.isLeft(result) || result.right.later !== undefined) return result;
    this.#state = result.right.state;
    this.clock.stepped();
    this.#uncommitted.add(cause.seq, result.right);
    return result;
  }

  #take(command: Command, cause: Cause): void {
    const message = outboxMessageOf(this.id, command);
    if (message !== undefined) this.#uncommitted.batch.messages.push(message);
    const { performed } = dutyOf(command);
    const isEarly = performed === "when_leased" && this.#instance.isLeased() && this.#interpreter.isGrounded(command);
    if (performed === "at_once" || isEarly) this.#toPerform.add({ command, cause });
    else this.#uncommitted.batch.waitingForCommit.push({ command, cause });
  }

  /** Sends a message without an event: something is said once more. */
  say(message: OutboxMessage): void {
    this.#uncommitted.batch.messages.push(message);
    this.schedule();
  }

  /** Takes a message from the inbox, with the append of what was just stepped. */
  done(message: InboxMessage): void {
    this.#uncommitted.batch.received.push(message);
    this.schedule();
  }

  /** Opens the scope by these events. Commands that its state still asks for are issued again, once. */
  open(opening: readonly Event[]): void {
    if (this.#state.scope.epoch > this.epoch) throw new ScopeLost(`scope ${this.id} was claimed by another instance`);
    for (const event of opening) {
      const cause = this.#cause(event);
      if (cause.seq > 1) this.#uncommitted.forgetApprovals();
      const result = this.#step(cause);
      if (E.isLeft(result)) throw openingRefused(this.id, result.left);
      this.#interpreter.stepped(cause, [], result.right.finished);
      for (const command of result.right.commands) if (command.type === "observe") this.#take(command, cause);
      if (event === opening.at(-1)) for (const command of outstanding(this.#state)) this.#take(command, cause);
    }
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
    return this.#uncommitted.whenDurable(seq, signal, () => this.schedule());
  }

  get isAwaited(): boolean {
    return this.#uncommitted.isAwaited || !this.#toPerform.isEmpty;
  }

  get isDurable(): boolean {
    return this.#uncommitted.isEmpty;
  }

  schedule(): void {
    if (!this.#isAbandoned) this.#instance.schedule(this);
  }

  deliverNext(): boolean {
    return !this.#isAbandoned && this.#toPerform.deliverNext();
  }

  get pendingAnswers(): News {
    return this.#isAbandoned ? "none" : this.#toPerform.pendingAnswers;
  }

  nextAppend(): Append | undefined {
    return this.#isAbandoned ? undefined : this.#uncommitted.next(this.#state, this.epoch);
  }

  appended(result: AppendResult): void {
    const { inFlight } = this.#uncommitted;
    if (this.#isAbandoned || inFlight === undefined) return;
    if (result.type === "full") this.#store.values.refused(Math.max(...inFlight.lines.map(({ line }) => line.length)));
    if (result.type !== "ok") return this.abandon(`append was not taken: ${result.type}`);
    this.#uncommitted.committed();
    try {
      this.#act(inFlight);
    } finally {
      for (const { resolve } of inFlight.waiters) resolve(); // Durable, whatever went wrong behind it.
    }
  }

  #act(batch: Batch): void {
    this.#interpreter.becameDurable(this.durable, batch.characters);
    for (const to of addressees(batch)) this.#instance.sent(to);
    for (const one of batch.waitingForCommit) if (this.mayAct()) this.#toPerform.add(one);
  }

  /** Says whether anything may be done outside. A process that stood still may find that another owns the scope. */
  mayAct(): boolean {
    if (this.#instance.hasLapsed()) this.abandon("its lease may have run out");
    return !this.#isAbandoned;
  }

  /** Says whether a deadline is about to pass: a body that is suspended now would be resumed at once. */
  get isDue(): boolean {
    const due = nextDeadline(this.#state)?.at;
    return due !== undefined && due <= this.#at() + soonMs;
  }

  rest(): void {
    if (this.#isAbandoned || this.#uncommitted.batch.lines.length > 0) return;
    const due = nextDeadline(this.#state)?.at;
    if (due !== undefined && due <= this.#at()) return void this.apply({ type: "clock.ticked" });
    this.#alarm.set(due, due === undefined ? 0 : due - this.#at());
    this.#interpreter.atRest();
  }

  /** Abandons the scope: what was stepped and not acknowledged is void, and so is everything that was made of it. */
  abandon(why: string): void {
    if (this.#isAbandoned) return;
    this.#isAbandoned = true;
    this.#deferred.end();
    this.#alarm.stop();
    const error = new ScopeLost(`scope ${this.id} was lost: ${why}`);
    const addressed = addressees(this.#uncommitted.inFlight);
    this.#uncommitted.abandon(error);
    this.#interpreter.abandoned(why);
    for (const to of addressed) this.#instance.sent(to); // Their messages may lie there all the same.
  }

  /** Ends the scope, and resolves when everything that was stepped is durable: with false if it was abandoned before. */
  async close(): Promise<boolean> {
    if (this.#isAbandoned) return false;
    this.schedule();
    await this.whenDurable();
    this.abandon("the runtime was closed");
    return true;
  }

  /** Leaves memory, with nothing lost. Whoever still holds the session is told to open the scope again. */
  leave(): void {
    this.#isAbandoned = true;
    this.#deferred.end();
    this.#alarm.stop();
  }
}
