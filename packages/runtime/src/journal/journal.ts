/**
 * The port that a store implements: a write-ahead log for each scope, with leases and fencing.
 *
 * Driver instances hold leases, by the store's clock; scopes have owners. A claim raises the epoch of a scope, and a writer with an
 * older epoch is fenced: the transaction that writes compares epoch, sequence and lease. An append is atomic for one scope,
 * and durable once it resolves. Appends of one call share the sync (group commit), and succeed or fail each on its own.
 *
 * Scopes move between stores. A store keeps how each move ended here; a move that was declined is never received.
 */
import type { Finished } from "@pawl/sansio-core";
import type { BlobStore } from "./blob.ts";
import type { QueueStore } from "./queue.ts";
import type { ScopeSecret } from "../scope/wait-token.ts";

/** One line of the log with its sequence. */
export interface JournalLine {
  readonly seq: number;
  readonly line: string;
}

/** Identifies a message from one scope to another: a message of a link, or the answer to one. */
export interface InboxMessageId {
  readonly kind: "message" | "answer";
  readonly link: number;
  readonly number: number;
}

/** A message that an append puts into another scope's inbox. A second one with the same id replaces the first. */
export interface OutboxMessage extends InboxMessageId {
  readonly to: string;
  readonly text: string;
}

/** A message in the inbox of a scope. */
export interface InboxMessage extends InboxMessageId {
  readonly from: string;
  readonly text: string;
}

export interface Append {
  readonly scope: string;
  readonly epoch: number;
  /** The sequence of the first line: one more than the scope's last. */
  readonly expectedSeq: number;
  /** Makes a retry safe: after a lost acknowledgement an append with a known id has succeeded already. */
  readonly appendId: string;
  /** Empty in an append of messages only. That is idempotent, and its id is not kept. */
  readonly lines: readonly JournalLine[];
  readonly finished: readonly (Finished & { readonly seq: number })[];
  /** The time at which the scope needs attention if nothing else happens. */
  readonly wakeAt: number | undefined;
  /** The new number of calls that wait for approval, if it changes. */
  readonly approvals?: number | undefined;
  /** The scope's protocol after the last line. */
  readonly protocol: number;
  readonly messages: readonly OutboxMessage[];
  /** Messages to remove from the scope's own inbox. */
  readonly received: readonly (InboxMessageId & { readonly from: string })[];
}

/** The reason that a write was not accepted. After `failed` the append may be there or not. */
export type NotWritten =
  | { readonly type: "fenced"; readonly epoch: number }
  | { readonly type: "conflict"; readonly seq: number }
  | { readonly type: "full" }
  | { readonly type: "failed"; readonly message: string };

export type AppendResult = { readonly type: "ok" } | NotWritten;

export interface Lease {
  readonly ttlMs: number;
  /** The address at which others reach the instance. */
  readonly address?: string;
  /** The newest protocol that the instance knows: 1 where it does not say. */
  readonly protocol?: number;
}

export interface Snapshot {
  /** The last sequence that it includes. */
  readonly seq: number;
  readonly text: string;
}

/** All that a scope is loaded from besides its snapshot. */
export interface Brought {
  readonly segment?: Segment;
  /** The lines after the snapshot, or all that there are after the segment. */
  readonly lines: readonly JournalLine[];
}

/** The owner's view of a scope. */
export interface Holding {
  readonly epoch: number;
  /** The sequence of the last line. */
  readonly seq: number;
  readonly snapshot?: Snapshot;
  /** Comes from `open`, if it is not too large for one answer. */
  readonly brought?: Brought;
}

/**
 * How the owner before went. `released`: it gave the scope up once its bodies had ended and its last append was durable.
 * `lost`: everything else, also an owner of whom nothing is known.
 */
export type LastOwner = "released" | "lost";

export type Claim =
  /**
   * `lastOwner`: of whoever appended last; absent where nothing has been appended. `known`: the newest protocol that every
   * live instance knows, where that is older than the caller's.
   */
  | (Holding & { readonly type: "claimed"; readonly lastOwner?: LastOwner; readonly known?: number })
  /** Another instance, whose lease holds, owns the scope. */
  | { readonly type: "owned_by"; readonly instance: string; readonly address?: string }
  /** The log is of a newer protocol than the caller knows; nothing was claimed. */
  | { readonly type: "newer_protocol"; readonly protocol: number };

/** A scope as a list shows it. */
export interface ScopeEntry {
  readonly scope: string;
  readonly epoch: number;
  readonly seq: number;
  /** The instance that claimed it last and did not release it. Its lease may have run out. */
  readonly owner?: string;
  /** Present while the lease of its owner holds, in a store that several processes share. */
  readonly held?: { readonly address?: string };
  readonly wakeAt?: number;
  /** The number of calls that wait for approval, if there are any. */
  readonly approvals?: number;
}

/** Replaces the lines that retention deleted: the log continues from here. */
export interface Segment {
  /** The sequence of the last line that was deleted or kept aside. */
  readonly base: number;
  /** The chain over all appends up to it. */
  readonly hash: string;
  /** The state up to it. */
  readonly snapshot: string;
}

export type Retained = { readonly type: "ok"; readonly base: number } | NotWritten;

/** The chain over a scope's appends, up to a sequence. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** The verdict on a scope's lines: whether their chain leads from the start of the log to the recorded hashes. */
export type ChainCheck =
  | {
      readonly type: "whole";
      readonly base: number;
      readonly seq: number;
      readonly hash: string;
      /** The last sequence that had a recorded hash. Later lines are hashed for the first time. */
      readonly kept: number;
    }
  | {
      readonly type: "broken";
      readonly base: number;
      readonly seq: number;
      readonly expected: string;
      readonly found: string;
    };

/** Called when an instance is to look. A wake may be lost: polling is the net under it. */
export interface Wakes {
  /** A scope of the instance has mail. */
  readonly mail: (scope: string) => void;
  /** Scopes were let go, or wakes may have been missed. */
  readonly look: () => void;
  /** Places in queues may have become free. */
  readonly places?: () => void;
}

/**
 * The mail of a store that does not have all scopes. Letters to others lie in an outbox from the append that sends them, and the driver
 * carries them. A letter is in the sender's outbox or in the target's inbox, and never in neither.
 */
export interface Outbox {
  readonly isHere: (scope: string) => boolean;
  /** Called when letters to a scope that is not here have become durable. */
  readonly carry: (to: string) => void;
  /** Gives the function to call when letters from elsewhere have become durable in the inbox of a scope that is here. */
  readonly listen: (arrived: (scope: string) => void) => void;
}

export interface Journal {
  /** Present in a store that does not have all scopes. Such a store refuses what is asked of others as `not_here`. */
  readonly outbox?: Outbox;
  /** Claims or loads a scope and brings along what its owner reads next, in one round trip: for a store that is far away. */
  readonly open?: Pick<Journal, "claim" | "load">;
  /** Wakes an instance from its next join on, until the function that it returns is called. */
  readonly listen?: (instance: string, wakes: Wakes) => () => void;
  /** Present in a store whose scopes can move. */
  readonly moves?: MoveStore;
  /** The journal below one that seals values: as it is stored. */
  readonly stored?: Journal;
  /** Queues that all instances of the store share. Without them an instance has its own, in memory. */
  readonly queues?: QueueStore;
  /** The store of large values. Without it they stay in the lines. */
  readonly blobs?: BlobStore;
  /** Gives an instance a lease, or a new one after the last ran out. */
  readonly join: (instance: string, lease: Lease) => Promise<void>;
  /** Renews a lease, and returns whether it still held. A lease that ran out stays so until the next join. */
  readonly renew: (instance: string) => Promise<boolean>;
  /** Ends the lease: others may claim the scopes of the instance. Those that it has not released count as lost. */
  readonly leave: (instance: string) => Promise<void>;
  /** Lists instances whose lease ran out before they left. */
  readonly lost: () => Promise<readonly string[]>;

  /**
   * Makes an instance the scope's owner, unless another one's lease stands against it, and raises the epoch: by one,
   * or to one more than `above`, where the log comes from elsewhere. `protocol` is the newest that the caller knows.
   */
  readonly claim: (scope: string, instance: string, protocol: number, above?: number) => Promise<Claim>;
  /** Reads a scope again that this instance still owns, without a new epoch. */
  readonly load: (scope: string, instance: string) => Promise<Holding | undefined>;
  /**
   * Gives up a scope, for others to claim. The next claim says that its last owner released it, unless something has been
   * appended since.
   */
  readonly release: (scope: string, instance: string) => Promise<void>;

  readonly appendAll: (appends: readonly Append[]) => Promise<readonly AppendResult[]>;
  /** Reads the lines from one sequence to another, both included. Lines that retention deleted are left out. */
  readonly read: (scope: string, from: number, to?: number) => Promise<readonly JournalLine[]>;
  /** Finds the sequence at which something finished that has left the state. Its line may be deleted. */
  readonly find: (scope: string, kind: Finished["kind"], id: string) => Promise<number | undefined>;
  /** Lists scopes whose wake time has passed, earliest first, without those of other live instances. */
  readonly due: (now: number, instance?: string, limit?: number) => Promise<readonly string[]>;
  /** Reads the messages to a scope, in order of arrival. */
  readonly inbox: (scope: string) => Promise<readonly InboxMessage[]>;
  /** Lists scopes with messages, without those of other live instances. */
  readonly mailed: (instance?: string, limit?: number) => Promise<readonly string[]>;
  /** Lists scopes by name, after a given one. */
  readonly scopes: (prefix: string, after: string, limit: number) => Promise<readonly ScopeEntry[]>;
  /** Lists scopes with calls that wait for approval. */
  readonly awaitingApproval: (prefix: string, after: string, limit: number) => Promise<readonly ScopeEntry[]>;

  /** Replaces the snapshot of a scope. `seq` must be durable and end an append; a fenced writer is refused. */
  readonly snapshot: (scope: string, epoch: number, seq: number, text: string) => Promise<AppendResult>;
  /** Deletes the lines up to the snapshot, except those at `keep`, which the state refers to; leaves a segment. */
  readonly retain: (scope: string, epoch: number, keep: readonly number[]) => Promise<Retained>;
  readonly segment: (scope: string) => Promise<Segment | undefined>;
  /** Returns the chain over the durable lines. */
  readonly head: (scope: string) => Promise<ChainHead | undefined>;
  /** Computes the chain again from the stored lines, and compares it with the recorded hashes. */
  readonly verify: (scope: string) => Promise<ChainCheck | undefined>;
}

/** An entry of a scope's finished index. */
export type IndexEntry = Finished & { readonly seq: number };

/** A scope from another store, with the event that receives it. */
export interface Adoption {
  readonly scope: string;
  /** The epoch of the claim here. A later claim fences this adoption. */
  readonly epoch: number;
  readonly nonce: string;
  readonly appendId: string;
  /** All lines of the log, or those after the segment. */
  readonly lines: readonly JournalLine[];
  readonly segment?: Segment;
  /** Lines that retention kept aside. */
  readonly kept: readonly JournalLine[];
  readonly finished: readonly IndexEntry[];
  readonly letters: readonly InboxMessage[];
  readonly wakeAt: number | undefined;
  readonly approvals: number;
  readonly protocol: number;
  readonly secrets: readonly ScopeSecret[];
}

/** The end of a move at its target. */
export type MoveEnd = { readonly type: "received"; readonly epoch: number } | { readonly type: "never" };

export interface MoveStore {
  /** Writes a scope and the end of its move in one transaction. Replaces a copy that had moved away. */
  readonly adopt: (adoption: Adoption) => Promise<AppendResult | { readonly type: "never" }>;
  /** Returns how a move ended. A move that has not ended is declined, and cannot be received later. */
  readonly decline: (scope: string, nonce: string) => Promise<MoveEnd>;
  readonly ended: (scope: string, nonce: string) => Promise<MoveEnd | undefined>;
  readonly secrets: (scope: string) => Promise<readonly ScopeSecret[]>;
  readonly index: (scope: string) => Promise<readonly IndexEntry[]>;
}
