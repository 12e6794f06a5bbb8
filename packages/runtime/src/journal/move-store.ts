/**
 * What a store keeps of moves between stores: how each one ended here, the wait-key secrets of scopes that came from
 * elsewhere, and a whole scope taken in at once. That a move was received and that it never will be exclude each other.
 */
import type { Finished } from "@pawl/sansio-core";
import type { AppendResult, JournalLine, InboxMessage, Segment } from "./journal.ts";
import type { ScopeSecret } from "../scope/token.ts";

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
