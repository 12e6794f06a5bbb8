/**
 * The protocol between two hosts when a scope moves from one to the other: the source sends a package in parts, the target
 * gathers them and answers. Every request may be repeated.
 */
import { type Codec, string, tagged, u64 } from "@pawl/tool-value";
import type { Platform } from "../platform.ts";

/** A part of the text of a package, which is too long for one message. */
export interface MovePart {
  readonly scope: string;
  readonly nonce: string;
  /** Counts from 0. */
  readonly part: number;
  readonly parts: number;
  readonly text: string;
}

export type MoveAnswer =
  /** Asks for the next part. */
  | { readonly type: "more" }
  /** Asks for all parts once more: some before this one are missing. */
  | { readonly type: "again" }
  /** Confirms that the scope lives at the target now. */
  | { readonly type: "received"; readonly epoch: number }
  /** Confirms that the scope was not received, and, by a record there, never will be under this nonce. */
  | { readonly type: "never" }
  /** Refuses the scope for now. Only declining it makes that final. */
  | { readonly type: "refused"; readonly code: string; readonly message: string };

export const MoveAnswer: Codec<MoveAnswer> = tagged<MoveAnswer, "type">("move answer", "type", {
  more: {},
  again: {},
  received: { epoch: u64 },
  never: {},
  refused: { code: string, message: string },
});

/** The target of a move, as its source calls it. Every call may be repeated. */
export interface Mover {
  /** Rejects if nobody is there to take the scope; it then stays where it is, and nothing is recorded. */
  readonly ready?: (scope: string) => Promise<void>;
  readonly send: (part: MovePart) => Promise<MoveAnswer>;
  /** Asks for the scope back: answers `received`, or puts `never` on record. */
  readonly decline: (scope: string, nonce: string) => Promise<MoveAnswer>;
}

export const refused = (code: string, message: string): MoveAnswer => ({ type: "refused", code, message });

/** The UTF-16 units of a part. Its message stays far below the 4 MiB that a host takes. */
const partLength = 256 * 1024;

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

const cutText = (text: string): readonly string[] => {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = from + partLength;
    const end = to < text.length && isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to;
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
};

/** Cuts the text of a package into parts. */
export const partsOf = (scope: string, nonce: string, text: string): readonly MovePart[] => {
  const pieces = cutText(text);
  return pieces.map((piece, part) => ({ scope, nonce, part, parts: pieces.length, text: piece }));
};

interface Gathered {
  readonly nonce: string;
  readonly texts: string[];
  units: number;
  /** The monotonic time of its last part. */
  at: number;
}

/** The most that all gathered parts may hold together, in UTF-16 units. */
const mostUnits = 256 * 1024 * 1024;
/** The overhead of a part beside its text; and how long a package may stall before others may take its room. */
const overheadUnits = 128;
const stallMs = 60_000;

/** Gathers the parts of packages at the target, within bounded memory. */
export class PartBuffer {
  readonly #clock: Pick<Platform, "monotonic">;
  readonly #gathered = new Map<string, Gathered>();
  #units = 0;

  constructor(clock: Pick<Platform, "monotonic">) {
    this.#clock = clock;
  }

  forget(scope: string): void {
    this.#units -= this.#gathered.get(scope)?.units ?? 0;
    this.#gathered.delete(scope);
  }

  /** Returns true if there is room, if need be after dropping packages that have stalled. */
  #fits(units: number, scope: string): boolean {
    if (this.#units + units <= mostUnits) return true;
    const since = this.#clock.monotonic() - stallMs;
    for (const [other, { at }] of this.#gathered) if (other !== scope && at < since) this.forget(other);
    return this.#units + units <= mostUnits;
  }

  /** Adds a part. Returns the whole text with the last part, else the answer to the source. */
  add({ scope, nonce, part, parts, text }: MovePart): string | MoveAnswer {
    if (part === 0) this.forget(scope);
    const gathered = part === 0 ? this.#begin(scope, nonce) : this.#gathered.get(scope);
    if (gathered?.nonce !== nonce || gathered.texts.length !== part) return { type: "again" };
    const units = overheadUnits + text.length + (part === 0 ? scope.length + nonce.length : 0);
    if (!this.#fits(units, scope)) {
      this.forget(scope);
      return refused("too_large", `scopes on their way may hold ${mostUnits} units together`);
    }
    this.#units += units;
    gathered.units += units;
    gathered.texts.push(text);
    gathered.at = this.#clock.monotonic();
    if (gathered.texts.length < parts) return { type: "more" };
    this.forget(scope);
    return gathered.texts.join("");
  }

  #begin(scope: string, nonce: string): Gathered {
    const gathered: Gathered = { nonce, texts: [], units: 0, at: 0 };
    this.#gathered.set(scope, gathered);
    return gathered;
  }
}
