/**
 * The end of a scope's log that its store does not have yet, in two batches: the one in flight, which is being appended,
 * and the one that collects what is stepped meanwhile. A batch holds the lines, what leaves with them (messages, ids that
 * have left the state), and what waits for them (commands, callers).
 */
import { type Command, type Event, type Finished, type State, type Written, wakeAtOf } from "@pawl/sansio-core";
import type { Append, InboxMessage, JournalLine, OutboxMessage } from "../journal/journal.ts";

/** The event that a command follows from. */
export interface Cause {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

export interface WaitingCommand {
  readonly command: Command;
  readonly cause: Cause;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface Batch {
  characters: number;
  /** How many large values that it names are not durable yet. */
  putting: number;
  readonly lines: JournalLine[];
  readonly finished: (Finished & { readonly seq: number })[];
  readonly messages: OutboxMessage[];
  /** Messages of its own inbox that are done with. */
  readonly received: InboxMessage[];
  readonly waitingForCommit: WaitingCommand[];
  readonly waiters: Waiter[];
}

const emptyBatch = (): Batch => ({
  characters: 0,
  putting: 0,
  lines: [],
  finished: [],
  messages: [],
  received: [],
  waitingForCommit: [],
  waiters: [],
});

const hasContent = ({ lines, messages, received }: Batch): boolean =>
  lines.length > 0 || messages.length > 0 || received.length > 0;

const nobody: ReadonlySet<string> = new Set();

export const addressees = (batch: Batch | undefined): ReadonlySet<string> =>
  batch === undefined || batch.messages.length === 0 ? nobody : new Set(batch.messages.map(({ to }) => to));

/** Resolves with the others who wait; or when the signal aborts, and then waits among them no more. */
const waitOrLeave = (waiters: Waiter[], leaves: AbortSignal, left: () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      waiters.splice(waiters.indexOf(waiter), 1);
      resolve();
      left();
    };
    const stay = (): void => leaves.removeEventListener("abort", leave);
    const waiter = { resolve: () => (stay(), resolve()), reject: (error: Error) => (stay(), reject(error)) };
    leaves.addEventListener("abort", leave, { once: true });
    waiters.push(waiter);
  });

/** Counts what a scope waits for a person with: its approvals, and the budget of a sub-agent that is used up. */
const waitingForPerson = ({ awaitingApproval, process, conversation: { running } }: State): number =>
  awaitingApproval + Number(process?.run === "turn" && running?.phase.type === "parked");

export class Uncommitted {
  /** Collects what is stepped, until the next append is made of it. */
  batch = emptyBatch();
  /** The batch that is being appended, and the state after it. */
  #inFlight: { readonly batch: Batch; readonly state: State } | undefined;
  #durable: State;
  /** How many approvals are wanted as far as the store was told, where that is known. */
  #approvals: number | undefined;

  constructor(state: State) {
    this.#durable = state;
    this.#approvals = waitingForPerson(state);
  }

  get durable(): State {
    return this.#durable;
  }

  get inFlight(): Batch | undefined {
    return this.#inFlight?.batch;
  }

  /** Says whether the store has all of it: events, and messages without any. */
  get isEmpty(): boolean {
    return this.#inFlight === undefined && !hasContent(this.batch);
  }

  get isAwaited(): boolean {
    return this.batch.waiters.length > 0;
  }

  add(seq: number, { line, finished }: Written): void {
    const { batch } = this;
    batch.lines.push({ seq, line });
    batch.characters += line.length;
    for (const one of finished) batch.finished.push({ seq, ...one });
  }

  /** Forgets how many approvals its store knows of: an owner that tells it nothing of them may have been here. */
  forgetApprovals(): void {
    this.#approvals = undefined;
  }

  /** Resolves once event `seq`, or everything, is durable; or when the signal aborts: then `left` is called. */
  whenDurable(seq: number | undefined, signal: AbortSignal | undefined, left: () => void): Promise<void> {
    const batch = signal?.aborted === true ? undefined : this.#batchOf(seq);
    if (batch === undefined) return Promise.resolve();
    const { waiters } = batch;
    if (signal !== undefined) return waitOrLeave(waiters, signal, left);
    return new Promise((resolve, reject) => void waiters.push({ resolve, reject }));
  }

  /** Returns the batch that makes event `seq`, or everything, durable; undefined where it is durable already. */
  #batchOf(seq: number | undefined): Batch | undefined {
    const inFlight = this.#inFlight;
    if (seq === undefined) return hasContent(this.batch) ? this.batch : inFlight?.batch;
    if (seq <= this.#durable.seq) return undefined;
    return inFlight !== undefined && seq <= inFlight.state.seq ? inFlight.batch : this.batch;
  }

  /** Makes an append of all that was collected, which leads to this state; undefined where nothing can be appended now. */
  next(state: State, epoch: number): Append | undefined {
    const { batch } = this;
    if (!hasContent(batch) || batch.putting > 0) return undefined;
    const known = this.#approvals;
    if (batch.lines.length > 0) this.#approvals = waitingForPerson(state);
    this.batch = emptyBatch();
    this.#inFlight = { batch, state };
    const { lines, finished, messages, received } = batch;
    const expectedSeq = state.seq + 1 - lines.length;
    return {
      scope: state.scope.id,
      epoch,
      expectedSeq,
      appendId: `${epoch}:${expectedSeq}`,
      lines,
      finished,
      wakeAt: wakeAtOf(state),
      approvals: waitingForPerson(state) === known ? undefined : waitingForPerson(state),
      protocol: state.scope.protocol,
      messages,
      received,
    };
  }

  /** Moves the durable state on: the store has the batch in flight. */
  committed(): void {
    this.#durable = this.#inFlight?.state ?? this.#durable;
    this.#inFlight = undefined;
  }

  abandon(error: Error): void {
    const waiters = [...(this.inFlight?.waiters ?? []), ...this.batch.waiters];
    this.batch = emptyBatch();
    this.#inFlight = undefined;
    for (const { reject } of waiters) reject(error);
  }
}
