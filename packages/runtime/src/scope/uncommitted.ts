/** What a scope has stepped and not appended yet, and what waits for that append. */
import { type Command, type Event, type Finished, type State, wakeAtOf } from "@pawl/sansio-core";
import type { Append, JournalLine, InboxMessage, OutboxMessage } from "../journal/journal.ts";

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

export interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** What waits for one append: the state that it makes durable, and what follows then. */
export interface Uncommitted {
  characters: number;
  /** Puts of large values that it names, and that are not durable yet. */
  putting: number;
  readonly lines: JournalLine[];
  readonly finished: (Finished & { readonly seq: number })[];
  /** Letters to others, and those of its own inbox that are done with. */
  readonly messages: OutboxMessage[];
  readonly received: InboxMessage[];
  readonly waitingForCommit: WaitingCommand[];
  readonly waiters: Waiter[];
}
/** Resolves with the others who wait; or when they leave, and are among them no more. */
export const waitOrLeave = (waiters: Waiter[], leaves: AbortSignal, left: () => void): Promise<void> =>
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

export const nothingUncommitted = (): Uncommitted => ({
  characters: 0,
  putting: 0,
  lines: [],
  finished: [],
  messages: [],
  received: [],
  waitingForCommit: [],
  waiters: [],
});
/** Whether there is anything to append. */
export const hasContent = ({ lines, messages, received }: Uncommitted): boolean =>
  lines.length > 0 || messages.length > 0 || received.length > 0;

/** What is appended of it. `told`: how many approvals are wanted as far as the store knows. */
export const appendOf = (uncommitted: Uncommitted, state: State, epoch: number, told: number | undefined): Append => {
  const { lines, finished, messages, received } = uncommitted;
  const expectedSeq = state.seq + 1 - lines.length;
  return {
    scope: state.scope.id,
    epoch,
    expectedSeq,
    appendId: `${epoch}:${expectedSeq}`,
    lines,
    finished,
    wakeAt: wakeAtOf(state),
    approvals: state.awaitingApproval === told ? undefined : state.awaitingApproval,
    protocol: state.scope.protocol,
    messages,
    received,
  };
};

const nobody: ReadonlySet<string> = new Set();

/** Whom letters are for. */
export const addressees = (uncommitted: Uncommitted | undefined): ReadonlySet<string> =>
  uncommitted === undefined || uncommitted.messages.length === 0
    ? nobody
    : new Set(uncommitted.messages.map(({ to }) => to));
