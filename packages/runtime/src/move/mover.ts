/** What is said between two hosts when a scope moves from one to the other. */
import { type Codec, string, tagged, u64 } from "@pawl/tool-value";

/** A piece of what travels: the text of a package, cut where it is too long for one message. */
export interface MovePart {
  readonly scope: string;
  readonly nonce: string;
  /** From 0 on. */
  readonly part: number;
  readonly parts: number;
  readonly text: string;
}

export type MoveAnswer =
  /** The next part, please. */
  | { readonly type: "more" }
  /** Not all the parts before this one are here: all of them once more. */
  | { readonly type: "again" }
  /** The scope lives there now. */
  | { readonly type: "received"; readonly epoch: number }
  /** It was not received, and never will be under this nonce: that is on record there. */
  | { readonly type: "never" }
  /** It was not received. Whether it will be is settled by declining it. */
  | { readonly type: "refused"; readonly code: string; readonly message: string };

export const MoveAnswer: Codec<MoveAnswer> = tagged<MoveAnswer, "type">("move answer", "type", {
  more: {},
  again: {},
  received: { epoch: u64 },
  never: {},
  refused: { code: string, message: string },
});

/** The other side of a move, as its source asks it. What is asked twice does no harm. */
export interface Mover {
  /** Rejects where nobody is there to take the scope: it stays where it is, and nothing is recorded. */
  readonly ready?: (scope: string) => Promise<void>;
  readonly send: (part: MovePart) => Promise<MoveAnswer>;
  /** The source wants the scope back: says `received`, or puts `never` on record. */
  readonly decline: (scope: string, nonce: string) => Promise<MoveAnswer>;
}
