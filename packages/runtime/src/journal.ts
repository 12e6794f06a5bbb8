/**
 * The port that a store fills. An append is atomic for one scope and durable when it resolves; appends that go
 * together share the sync, not the fate. A claim raises a scope's epoch, and whoever holds an older one is fenced.
 */
import type { Finished } from "@pawl/sansio-core";

/** One event as it stands in the log: its line, and the sequence to find it by. */
export interface JournalLine {
  readonly seq: number;
  readonly line: string;
}

export interface Append {
  readonly scope: string;
  readonly epoch: number;
  /** The sequence of the first line: one more than the scope's last. */
  readonly expectedSeq: number;
  /** Found among the scope's own rows after a lost acknowledgement: then the append had succeeded. */
  readonly appendId: string;
  readonly lines: readonly JournalLine[];
  readonly finished: readonly (Finished & { readonly seq: number })[];
  /** When the scope has to be looked at again, if nothing else happens. */
  readonly wakeAt: number | undefined;
}

export type AppendResult =
  | { readonly type: "ok" }
  | { readonly type: "fenced"; readonly epoch: number }
  | { readonly type: "conflict"; readonly seq: number }
  | { readonly type: "full" }
  | { readonly type: "failed"; readonly message: string };

export interface Claim {
  readonly epoch: number;
  /** The sequence of the last line. */
  readonly seq: number;
}

export interface Journal {
  readonly claim: (scope: string, instance: string) => Promise<Claim>;
  readonly appendAll: (appends: readonly Append[]) => Promise<readonly AppendResult[]>;
  /** The lines from a sequence on, that one included. */
  readonly read: (scope: string, from: number) => Promise<readonly JournalLine[]>;
  /** Where something finished that has left the state, by kind and id. */
  readonly find: (scope: string, kind: Finished["kind"], id: string) => Promise<number | undefined>;
  /** Scopes whose time has come. */
  readonly due: (now: number) => Promise<readonly string[]>;
}
