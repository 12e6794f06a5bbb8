/**
 * One scope in its store, under one claim: all that its owner reads and writes there except the growth of the log, which
 * goes through the commit loop together with that of other scopes.
 *
 * A claim of a scope comes with an epoch. The store refuses every write under an older one, so a process that stood still
 * and wakes up cannot write over its successor (a fence). Reads need no fence: what is read here is history, which no
 * later owner changes, and a message is only taken by an append.
 *
 * A store holds of a scope:
 *
 *   segment     the state at `base`, where the log begins: nothing, or what retention has left (`begun`).
 *   lines       events base+1 ... seq, each with its sequence (`readLines`); some older lines that the state still
 *               refers to. The log is the truth.
 *   snapshot    the state at some event between: makes opening cheap, and may be missing, old or unreadable.
 *   finished    ids that have left the state, and the event with which each did (`find`). Written with its lines.
 *   inbox       messages from other scopes, not yet taken. An append takes them away, with the events they became.
 *   values      large values in a store of blobs. Each is durable before the line that names it is appended.
 *
 * Read lines before `begun`: retention may delete lines between the two reads, and what it deletes is in the state by
 * then. The other order would leave a hole.
 */
import type { Finished, State } from "@pawl/sansio-core";
import type { Fault } from "./offload.ts";
import type { ScopeClock } from "./clock.ts";
import { type Opened, begun } from "./open-scope.ts";
import { type RejectedSizes, type Values, valuesOf } from "./large-values.ts";
import type { Retention } from "./snapshots.ts";
import type { ScopeSecret } from "./wait-token.ts";
import type { Journal, JournalLine } from "../journal/journal.ts";
import type { RuntimeOptions } from "../runtime-options.ts";

export interface ScopeStore {
  readonly scope: string;
  readonly epoch: number;
  /** Scope time: goes on from the time of the last event in the log. */
  readonly clock: ScopeClock;
  readonly values: Values;
  /** The snapshot from which the scope was opened, and how many characters of events came after it. */
  readonly opened: Omit<Opened, "state">;
  /** Tells the host what is wrong with the store, and was got around. */
  readonly fault: Fault;

  readonly readLines: (from: number, to?: number) => Promise<readonly JournalLine[]>;
  readonly find: (kind: Finished["kind"], id: string) => Promise<number | undefined>;
  readonly begun: () => Promise<State>;
  readonly inbox: () => ReturnType<Journal["inbox"]>;
  /** Secrets of the scope's wait keys from the hosts where it lived before. */
  readonly secrets: () => Promise<readonly ScopeSecret[]>;

  readonly snapshot: (seq: number, text: string) => ReturnType<Journal["snapshot"]>;
  /** Characters of events after which a snapshot is due; at least as many as the last one has. */
  readonly snapshotAfter: number | undefined;
  /** Deletes the lines up to the snapshot that is stored, except these. */
  readonly retain: (keep: readonly number[]) => ReturnType<Journal["retain"]>;
  readonly retention: Retention | undefined;
}

/** A scope that was claimed or loaded, with what its store does not keep. */
interface Claimed {
  readonly scope: string;
  readonly epoch: number;
  readonly clock: ScopeClock;
  readonly opened: Omit<Opened, "state">;
  readonly fault: Fault;
  readonly rejected: RejectedSizes;
}

/** Retention shortens logs of sessions only: what a process is asked for later is in its log. */
export const scopeStoreOf = (
  options: Pick<RuntimeOptions, "journal" | "platform" | "blobChars" | "retention" | "snapshotAfter">,
  { scope, epoch, clock, opened, fault, rejected }: Claimed,
): ScopeStore => {
  const { journal, retention, snapshotAfter } = options;
  return {
    scope,
    epoch,
    clock,
    opened,
    fault,
    values: valuesOf(options, scope, rejected),
    readLines: (from, to) => journal.read(scope, from, to),
    find: (kind, id) => journal.find(scope, kind, id),
    begun: () => begun(journal, scope),
    inbox: () => journal.inbox(scope),
    secrets: async () => (await journal.moves?.secrets(scope)) ?? [],
    snapshot: (seq, text) => journal.snapshot(scope, epoch, seq, text),
    snapshotAfter,
    retain: (keep) => journal.retain(scope, epoch, keep),
    retention: scope.startsWith("session:") ? retention : undefined,
  };
};
