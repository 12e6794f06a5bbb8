/** What a page of the tests tells of its tab. */

/** It began to write, or was told that another one does. */
export interface Change {
  readonly at: number;
  readonly isWriting: boolean;
}

/** A session as its journal has it. */
export interface Log {
  readonly seqs: readonly number[];
  readonly lines: readonly string[];
  readonly hash: string;
  /** Of the chain. */
  readonly check: string | undefined;
}
