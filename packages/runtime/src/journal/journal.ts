/**
 * The port that a store fills.
 *
 * Driver instances hold leases, by the store's clock; scopes have owners. A claim raises a scope's epoch, and whoever
 * holds an older one is fenced: epoch, sequence and lease are compared in the transaction that writes. An append is
 * atomic for one scope and durable when it resolves; appends that go together share the sync, not the fate.
 */
import type { Finished } from "@pawl/sansio-core";
import type { BlobStore } from "./blob.ts";
import type { ScopeSecret } from "../scope/token-check.ts";

/** One event as it stands in the log: its line, and the sequence to find it by. */
export interface JournalLine {
  readonly seq: number;
  readonly line: string;
}

/** What tells one letter of a scope to another from all others: a message of its link, or the answer to one. */
export interface InboxMessageId {
  readonly kind: "message" | "answer";
  readonly link: number;
  readonly number: number;
}

/** A letter that an append puts into another scope's inbox; the same one again takes the place of the first. */
export interface OutboxMessage extends InboxMessageId {
  readonly to: string;
  readonly text: string;
}

/** A letter as it lies in the inbox of a scope. */
export interface InboxMessage extends InboxMessageId {
  readonly from: string;
  readonly text: string;
}

export interface Append {
  readonly scope: string;
  readonly epoch: number;
  /** The sequence of the first line: one more than the scope's last. */
  readonly expectedSeq: number;
  /** Found among the scope's own rows after a lost acknowledgement: then the append had succeeded. */
  readonly appendId: string;
  /** None where only letters go; then nothing is found again, and doing it twice changes nothing. */
  readonly lines: readonly JournalLine[];
  readonly finished: readonly (Finished & { readonly seq: number })[];
  /** When the scope has to be looked at again, if nothing else happens. */
  readonly wakeAt: number | undefined;
  /** How many of its calls wait for a person's word, where that is to change. */
  readonly approvals?: number | undefined;
  /** The scope's protocol after the last line. */
  readonly protocol: number;
  readonly messages: readonly OutboxMessage[];
  /** Letters of the scope's own inbox that are done with. */
  readonly received: readonly (InboxMessageId & { readonly from: string })[];
}

/** Why a write was not taken. Of an append that failed nobody knows whether it is there. */
export type NotWritten =
  | { readonly type: "fenced"; readonly epoch: number }
  | { readonly type: "conflict"; readonly seq: number }
  | { readonly type: "full" }
  | { readonly type: "failed"; readonly message: string };

export type AppendResult = { readonly type: "ok" } | NotWritten;

export interface Lease {
  readonly ttlMs: number;
  /** Where others reach the instance. */
  readonly address?: string;
}

export interface Snapshot {
  /** The last sequence that is in it. */
  readonly seq: number;
  readonly text: string;
}

/** What is held of a scope by its owner. */
export interface Holding {
  readonly epoch: number;
  /** The sequence of the last line. */
  readonly seq: number;
  readonly snapshot?: Snapshot;
}

export type Claim =
  | (Holding & { readonly type: "claimed" })
  /** It lives with an instance whose lease holds. */
  | { readonly type: "owned_by"; readonly instance: string; readonly address?: string }
  /** Nothing was claimed. */
  | { readonly type: "newer_protocol"; readonly protocol: number };

/** A scope as a list shows it. */
export interface ScopeEntry {
  readonly scope: string;
  readonly epoch: number;
  readonly seq: number;
  /** The instance that claimed it last and did not release it, whether its lease holds or not. */
  readonly owner?: string;
  /** While the lease of its owner holds, where several processes share the store: the address that it announced. */
  readonly held?: { readonly address?: string };
  readonly wakeAt?: number;
  /** How many of its calls wait for a person's word, if any do. */
  readonly approvals?: number;
}

/** What retention left of the lines that it deleted: a log goes on from here. */
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

/** What the chain says of the lines that are there: they follow from where the log begins to what was once hashed. */
export type ChainCheck =
  | {
      readonly type: "whole";
      readonly base: number;
      readonly seq: number;
      readonly hash: string;
      /** How far it had been hashed before: of the lines after that the chain is made for the first time. */
      readonly kept: number;
    }
  | {
      readonly type: "broken";
      readonly base: number;
      readonly seq: number;
      readonly expected: string;
      readonly found: string;
    };

export interface Journal {
  /** Of a store whose scopes can move to others. */
  readonly moves?: MoveStore;
  /** Of one that seals values: the journal as it is stored. */
  readonly stored?: Journal;
  /** Where large values are kept; without it they stay in the lines. */
  readonly blobs?: BlobStore;
  /** Gives an instance a lease, or its next one after one that ran out. Nothing is kept for who has none. */
  readonly join: (instance: string, lease: Lease) => Promise<void>;
  /** Whether the lease still held; then it goes on for as long again. One that ran out stays so until the next join. */
  readonly renew: (instance: string) => Promise<boolean>;
  /** Ends the lease, and owns nothing more. */
  readonly leave: (instance: string) => Promise<void>;
  /** Instances whose lease has run out and that have not left. */
  readonly lost: () => Promise<readonly string[]>;

  /**
   * Makes an instance the scope's owner, unless another one's lease stands against it, and raises the epoch: by one,
   * or to one more than `above`, where the log comes from elsewhere. `protocol` is the newest that the caller knows.
   */
  readonly claim: (scope: string, instance: string, protocol: number, above?: number) => Promise<Claim>;
  /** What this instance still holds of a scope that it owns: nobody has claimed it since, and the epoch stands. */
  readonly load: (scope: string, instance: string) => Promise<Holding | undefined>;
  /** Gives up a scope, whoever may claim it next. */
  readonly release: (scope: string, instance: string) => Promise<void>;

  readonly appendAll: (appends: readonly Append[]) => Promise<readonly AppendResult[]>;
  /** The lines from a sequence on, up to another, both included. What retention deleted is left out. */
  readonly read: (scope: string, from: number, to?: number) => Promise<readonly JournalLine[]>;
  /** Where something finished that has left the state, by kind and id; also when its line is no longer there. */
  readonly find: (scope: string, kind: Finished["kind"], id: string) => Promise<number | undefined>;
  /** Scopes whose time has come, earliest first, and that no live instance owns but the one that asks. */
  readonly due: (now: number, instance?: string, limit?: number) => Promise<readonly string[]>;
  /** Letters to a scope, in the order in which they came. */
  readonly inbox: (scope: string) => Promise<readonly InboxMessage[]>;
  /** Scopes with letters that no live instance owns but the one that asks. */
  readonly mailed: (instance?: string, limit?: number) => Promise<readonly string[]>;
  /** Scopes by name, those after one. */
  readonly scopes: (prefix: string, after: string, limit: number) => Promise<readonly ScopeEntry[]>;
  /** Those of them of which calls wait for a person's word. */
  readonly awaitingApproval: (prefix: string, after: string, limit: number) => Promise<readonly ScopeEntry[]>;

  /** Keeps the state after a durable line that ends an append, in place of the one before; refused to who is fenced. */
  readonly snapshot: (scope: string, epoch: number, seq: number, text: string) => Promise<AppendResult>;
  /** Deletes the lines up to the snapshot, but for those at `keep`, which the state refers to; leaves a segment. */
  readonly retain: (scope: string, epoch: number, keep: readonly number[]) => Promise<Retained>;
  readonly segment: (scope: string) => Promise<Segment | undefined>;
  /** The chain over what is durable. */
  readonly head: (scope: string) => Promise<ChainHead | undefined>;
  /** Makes the chain again from the lines as they stand, and compares it with what it came to when it was made. */
  readonly verify: (scope: string) => Promise<ChainCheck | undefined>;
}

/** An entry of a scope's finished index. */
export type IndexEntry = Finished & { readonly seq: number };

/** A scope from elsewhere, with the event that receives it. */
export interface Adoption {
  readonly scope: string;
  /** As it was claimed here: whoever claims the scope in between fences this. */
  readonly epoch: number;
  readonly nonce: string;
  readonly appendId: string;
  /** All of the log; after a segment what follows on it. */
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

/** How a move ended at its target. */
export type MoveEnd = { readonly type: "received"; readonly epoch: number } | { readonly type: "never" };

export interface MoveStore {
  /** Takes a scope in, in the place of a copy that moved away, and with it that it was received: all of it or nothing. */
  readonly adopt: (adoption: Adoption) => Promise<AppendResult | { readonly type: "never" }>;
  /** Says how a move ended; one that has not ended is never received from now on. */
  readonly decline: (scope: string, nonce: string) => Promise<MoveEnd>;
  readonly ended: (scope: string, nonce: string) => Promise<MoveEnd | undefined>;
  readonly secrets: (scope: string) => Promise<readonly ScopeSecret[]>;
  readonly index: (scope: string) => Promise<readonly IndexEntry[]>;
}
