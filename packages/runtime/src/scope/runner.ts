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
import type { Append, AppendResult, Letter, SentLetter } from "../journal/journal.ts";
import { LateEvents, type Told } from "./late-event.ts";
import { letterOf } from "./letter.ts";
import { mayWait } from "./not-stored.ts";
import { soonMs } from "../platform.ts";
import type { ScopeClock } from "./clock.ts";
import type { ScopePort } from "./runner-port.ts";
import type { Cause, Held, Suffix } from "./suffix.ts";
import { addressees, appendOf, emptySuffix, hasContent, waitOrLeave } from "./suffix.ts";
import type { News } from "../body/timeline.ts";
import type { Member } from "./turn-loop.ts";

export type { Cause } from "./suffix.ts";

export class ScopeRunner implements Member {
  readonly id: string;
  readonly epoch: number;
  readonly #port: ScopePort;
  #state: State;
  /** What was stepped since the last append was made. */
  #suffix = emptySuffix();
  /** What is being appended, and the state after it. */
  #flight: { readonly suffix: Suffix; readonly state: State } | undefined;
  #durable: State;
  readonly #late: LateEvents;
  #isLost = false;
  #callOff: (() => void) | undefined;
  #timerAt: number | undefined;
  /** How many approvals are wanted as far as its store was told, where that is known. */
  #approvals: number | undefined;
  readonly clock: ScopeClock;

  constructor(state: State, epoch: number, port: ScopePort) {
    this.id = state.scope.id;
    this.epoch = epoch;
    this.#port = port;
    this.#late = new LateEvents(this, port.fault);
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
  get isLost(): boolean {
    return this.#isLost;
  }

  #at(): number {
    return this.clock.after(this.#state.at);
  }

  #cause(event: Event): Cause {
    return { seq: this.#state.seq + 1, at: this.#at(), event };
  }

  /** Steps an event, with `kept` in its place in the log where its values are stored. A rejection changes nothing. */
  tell(event: Event, kept?: Event): E.Either<Rejection, Told> {
    if (this.#isLost) throw new ScopeLost(`scope ${this.id} was lost`);
    const cause = this.#cause(event);
    const result = this.#step(cause, kept);
    if (E.isLeft(result) || result.right.later !== undefined) return result;
    const { commands, finished } = result.right;
    this.#port.stepped(cause, commands, finished);
    for (const command of commands) this.#take(command, cause);
    this.stir();
    return result;
  }

  /** Large values are put aside first, and durable before the event that names them. */
  #write(cause: Cause, kept?: Event): E.Either<Rejection, Told> {
    if (kept !== undefined) return write(this.#state, { ...cause, event: kept });
    const result = write(this.#state, cause);
    if (E.isLeft(result)) return result;
    const referred = this.#port.values.refer(cause.event, this.#state, result.right.line);
    if (referred === undefined) return result;
    if (mayWait(cause.event)) return this.#late.add(cause.event, referred, result.right);
    const suffix = this.#suffix;
    suffix.putting += 1;
    referred.kept.then(
      () => {
        suffix.putting -= 1;
        this.stir();
      },
      (thrown: unknown) => this.lose(`a value could not be put aside: ${String(thrown)}`),
    );
    return write(this.#state, { ...cause, event: referred.event });
  }

  #step(cause: Cause, kept?: Event): E.Either<Rejection, Told> {
    const result = this.#write(cause, kept);
    if (E.isLeft(result) || result.right.later !== undefined) return result;
    const { state, line, finished } = result.right;
    const { seq } = cause;
    this.#state = state;
    this.clock.stepped();
    this.#suffix.lines.push({ seq, line });
    this.#suffix.characters += line.length;
    for (const one of finished) this.#suffix.finished.push({ seq, ...one });
    return result;
  }

  #take(command: Command, cause: Cause): void {
    const letter = letterOf(this.id, command);
    if (letter !== undefined) this.#suffix.messages.push(letter);
    const { performed } = dutyOf(command);
    const isNow = performed === "at_once" || (performed === "when_leased" && this.#port.isLeased());
    if (isNow) this.#port.perform(command, cause);
    else this.#suffix.held.push({ command, cause });
  }

  /** A letter that no event asks for: something is said once more. */
  say(letter: SentLetter): void {
    this.#suffix.messages.push(letter);
    this.stir();
  }

  /** A letter of its inbox is done with, by what has just been told. */
  done(letter: Letter): void {
    this.#suffix.received.push(letter);
    this.stir();
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
    this.stir();
  }

  /** Resolves when all that has been stepped so far is durable; rejects when the scope is lost before. */
  settled(): Promise<void> {
    const late = this.#late.over;
    if (late !== undefined) return late.then(() => this.settled());
    if (this.#isLost) return Promise.reject(new ScopeLost(`scope ${this.id} was lost`));
    const suffix = hasContent(this.#suffix) ? this.#suffix : this.#flight?.suffix;
    if (suffix === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => void suffix.waiters.push({ resolve, reject }));
  }

  /** Resolves when the event of a sequence is durable, one that is still to come no sooner than it comes; or who waits leaves. */
  reached(seq: number, leaves?: AbortSignal): Promise<void> {
    if (this.#isLost) return Promise.reject(new ScopeLost(`scope ${this.id} was lost`));
    if (seq <= this.#durable.seq || leaves?.aborted === true) return Promise.resolve();
    const suffix = this.#flight !== undefined && seq <= this.#flight.state.seq ? this.#flight.suffix : this.#suffix;
    if (leaves !== undefined) return waitOrLeave(suffix.waiters, leaves, () => this.stir());
    return new Promise((resolve, reject) => void suffix.waiters.push({ resolve, reject }));
  }

  /** Whether somebody waits for an event that is still to come. */
  get isAwaited(): boolean {
    return this.#suffix.waiters.length > 0;
  }

  /** Whether the store has all of it: events, and letters without any. */
  get isWritten(): boolean {
    return this.#flight === undefined && !hasContent(this.#suffix);
  }

  /** Something may be due: a turn looks after it. */
  stir(): void {
    if (!this.#isLost) this.#port.stir(this);
  }

  deliver(): boolean {
    return !this.#isLost && this.#port.deliver();
  }

  readonly news = (): News => (this.#isLost ? "none" : this.#port.news());

  take(): Append | undefined {
    const [suffix, state, told] = [this.#suffix, this.#state, this.#approvals];
    if (!hasContent(suffix) || suffix.putting > 0 || this.#isLost) return undefined;
    if (suffix.lines.length > 0) this.#approvals = state.awaitingApproval;
    this.#suffix = emptySuffix();
    this.#flight = { suffix, state };
    return appendOf(suffix, state, this.epoch, told);
  }

  appended(result: AppendResult): void {
    const flight = this.#flight;
    if (this.#isLost || flight === undefined) return;
    if (result.type === "full")
      this.#port.values.refused(Math.max(...flight.suffix.lines.map(({ line }) => line.length)));
    if (result.type !== "ok") return this.lose(`append was not taken: ${result.type}`);
    this.#flight = undefined;
    this.#durable = flight.state;
    try {
      this.#act(flight);
    } finally {
      for (const { resolve } of flight.suffix.waiters) resolve(); // It is durable, whatever went wrong behind it.
    }
  }

  #act({ suffix, state }: { readonly suffix: Suffix; readonly state: State }): void {
    this.#port.durable(state, suffix.characters);
    for (const to of addressees(suffix)) this.#port.sent(to);
    for (let i = 0; i < suffix.held.length && this.mayAct(); i++) {
      const { command, cause } = suffix.held[i] as Held;
      this.#port.perform(command, cause);
    }
  }

  /** Whether anything may be done for it outside: a process that stood still may find the scope to be another's. */
  mayAct(): boolean {
    if (this.#port.hasLapsed()) this.lose("its lease may have run out");
    return !this.#isLost;
  }

  /** Whether time is about to answer somebody: a body that is dropped now would not hear it. */
  get isDue(): boolean {
    const due = nextDeadline(this.#state)?.at;
    return due !== undefined && due <= this.#at() + soonMs;
  }

  rest(): void {
    if (this.#isLost || this.#suffix.lines.length > 0) return;
    const due = nextDeadline(this.#state)?.at;
    if (due !== undefined && due <= this.#at()) return void this.tell({ type: "clock.ticked" });
    this.#setAlarm(due);
    this.#port.rest();
  }

  /** The suffix that was not acknowledged is void, and so is all that was made of it. */
  lose(why: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#late.end();
    this.#callOff?.();
    const error = new ScopeLost(`scope ${this.id} was lost: ${why}`);
    const waiters = [...(this.#flight?.suffix.waiters ?? []), ...this.#suffix.waiters];
    const addressed = addressees(this.#flight?.suffix);
    this.#suffix = emptySuffix();
    this.#flight = undefined;
    for (const { reject } of waiters) reject(error);
    this.#port.lost(why);
    for (const to of addressed) this.#port.sent(to); // Their letters may lie there all the same.
  }

  /** Nothing comes after what was stepped: resolves when that is durable. */
  async close(): Promise<void> {
    if (this.#isLost) return;
    this.stir();
    await this.settled();
    this.lose("the runtime was closed");
  }

  /** Leaves memory; nothing is lost by it. Whoever still has it in hand is told to open the scope again. */
  leave(): void {
    this.#isLost = true;
    this.#late.end();
    this.#callOff?.();
  }

  /** For the scope's next deadline. */
  #setAlarm(due: number | undefined): void {
    if (due === this.#timerAt) return;
    this.#callOff?.();
    this.#timerAt = due;
    const ring = (): void => {
      this.#timerAt = undefined;
      this.#callOff = undefined;
      this.stir();
    };
    this.#callOff = due === undefined ? undefined : this.#port.platform.later(due - this.#at(), ring);
  }
}
