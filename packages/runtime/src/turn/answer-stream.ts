/**
 * An answer as it comes: what a model's attempts say, for those who read along, and what of it is not on record yet.
 *
 * Counts units: one a UTF-16 unit of text or reasoning, one a part that comes whole, none for metadata. A place in an
 * answer is its attempt and how many units a reader has. Deltas are told at once, and may be void: where an attempt fails or
 * is lost, the next one begins, and a reader is told how much of what it has it may keep. Nothing here keeps time or a log:
 * its owner says what time it is, records what `takeUnrecorded` gives, and says when the answer is on record.
 */
import type { AnswerPart, Piece } from "@pawl/sansio-core/driver";

/** A place in an answer: all units of an attempt before `at`. */
export interface AnswerCursor {
  readonly attempt: number;
  readonly at: number;
}

type Delta = AnswerCursor & ({ readonly text: string; readonly of?: "reasoning" } | { readonly part: AnswerPart });

/** News for a reader. */
export type AnswerFrame =
  | { readonly delta: Delta }
  /** Another attempt has begun: the reader drops all units from `keep` on. */
  | { readonly reset: { readonly attempt: number; readonly keep: number } }
  | { readonly answered: AnswerCursor }
  /** The attempt was stopped here. */
  | { readonly cut: AnswerCursor };

export type AnswerReader = (frame: AnswerFrame) => void;

/** The text of a unit that is no reasoning. */
const textOf = (unit: Unit): string => {
  if ("text" in unit) return unit.of === undefined ? unit.text : "";
  return unit.part.type === "text" ? unit.part.text : "";
};

/** A run of units of one kind. */
type Unit =
  | { readonly at: number; readonly text: string; readonly of?: "reasoning" }
  | { readonly at: number; readonly part: AnswerPart };

interface Pace {
  /** So many units that are not on record are a checkpoint, and so is the first of them when it is so old. */
  readonly checkpointChars: number;
  readonly checkpointMs: number;
}

const lengthOf = (unit: Unit): number => ("text" in unit ? unit.text.length : 1);

/** A unit without what a reader has of it; undefined where it has all. */
const rest = (unit: Unit, from: number): Unit | undefined => {
  if (unit.at >= from) return unit;
  if (unit.at + lengthOf(unit) <= from || !("text" in unit)) return undefined;
  return { ...unit, at: from, text: unit.text.slice(from - unit.at) };
};

/** Adds a unit; it is one with the last where both are text of a kind. */
const push = (units: Unit[], unit: Unit): void => {
  const last = units.at(-1);
  const isSame = last !== undefined && "text" in last && "text" in unit && last.of === unit.of;
  if (isSame) units[units.length - 1] = { ...last, text: last.text + unit.text };
  else units.push(unit);
};

/** Keeps what a model says of one answer, for readers of any cursor. */
export class AnswerStream {
  readonly #pace: Pace;
  readonly #readers = new Set<AnswerReader>();
  /** How much of what was said before each attempt is kept in it. */
  readonly #keeps = new Map<number, number>();
  #attempt = 0;
  #units: Unit[] = [];
  #length = 0;
  #kinds = new Map<number, Piece["type"]>();
  #unrecorded: Piece[] = [];
  #recorded = 0;
  #since: number | undefined;
  #end: "answered" | "cut" | undefined;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** The place behind all that the open attempt has said. */
  get place(): AnswerCursor {
    return { attempt: this.#attempt, at: this.#length };
  }
  /** How many units are on record. */
  get recorded(): number {
    return this.#recorded;
  }
  /** The text of the attempt until now. */
  get text(): string {
    return this.#units.map(textOf).join("");
  }
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Begins an attempt, which goes on from a text that is on record. */
  begin(attempt: number, kept: string): void {
    const isNext = this.#attempt > 0;
    this.#attempt = attempt;
    this.#units = kept === "" ? [] : [{ at: 0, text: kept }];
    this.#length = kept.length;
    this.#recorded = kept.length;
    this.#kinds = new Map();
    this.#unrecorded = [];
    this.#since = undefined;
    this.#keeps.set(attempt, kept.length);
    if (isNext) this.#tell({ reset: { attempt, keep: kept.length } });
  }

  /** Takes a piece that the model says, and tells the readers. Returns whether a checkpoint is due for its size. */
  say(piece: Piece, now: number): boolean {
    this.#unrecorded.push(piece);
    const unit = this.#unitOf(piece);
    if (unit !== undefined) {
      this.#units.push(unit);
      this.#length += lengthOf(unit);
      this.#since ??= now;
      this.#tell({ delta: { attempt: this.#attempt, ...unit } });
    }
    return this.#length - this.#recorded >= this.#pace.checkpointChars;
  }

  #unitOf({ b, type, text = "", part }: Piece): Unit | undefined {
    if (part !== undefined) return { at: this.#length, part };
    const kind = this.#kinds.get(b) ?? type;
    this.#kinds.set(b, kind);
    if (text === "") return undefined;
    return kind === "reasoning" ? { at: this.#length, text, of: kind } : { at: this.#length, text };
  }

  /** When a checkpoint is due for the age of what is not on record. */
  get dueAt(): number | undefined {
    return this.#since === undefined ? undefined : this.#since + this.#pace.checkpointMs;
  }

  /** Takes the pieces that are not on record, for the event that puts them there. */
  takeUnrecorded(): readonly Piece[] {
    const pieces = this.#unrecorded;
    this.#unrecorded = [];
    this.#recorded = this.#length;
    this.#since = undefined;
    return pieces;
  }

  /** The answer is over: it is on record, or was stopped. */
  end(how: "answered" | "cut"): void {
    this.#end = how;
    this.#tell(this.#ended(how));
  }

  #ended(how: "answered" | "cut"): AnswerFrame {
    return how === "answered" ? { answered: this.place } : { cut: this.place };
  }

  /**
   * Begins to read, from a place that the reader has, or from the beginning: it is told what it lacks, then all that comes.
   * Returns how to stop reading; undefined where the place is beyond all that there is.
   */
  read(reader: AnswerReader, cursor?: AnswerCursor): (() => void) | undefined {
    const from = this.#from(cursor);
    if (from === undefined) return undefined;
    if (cursor !== undefined && cursor.attempt < this.#attempt)
      reader({ reset: { attempt: this.#attempt, keep: from.keep } });
    for (const unit of this.#lacked(from.at)) reader({ delta: { attempt: this.#attempt, ...unit } });
    if (this.#end !== undefined) reader(this.#ended(this.#end));
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  /** Returns the units from one on. Most readers lack only the newest. */
  #lacked(at: number): readonly Unit[] {
    const first = this.#units.findLastIndex((unit) => unit.at <= at);
    const lacked: Unit[] = [];
    for (const unit of this.#units.slice(Math.max(0, first))) {
      const part = rest(unit, at);
      if (part !== undefined) push(lacked, part);
    }
    return lacked;
  }

  /**
   * From where a reader goes on: of what it has, each attempt since has kept some, and the least of these counts. Of attempts
   * before those that are known here, as another process made them, nobody knows what they kept: the reader begins anew.
   */
  #from(
    cursor: AnswerCursor = { attempt: this.#attempt, at: 0 },
  ): { readonly at: number; readonly keep: number } | undefined {
    const [known = this.#attempt] = this.#keeps.keys();
    const since = [...this.#keeps].filter(([attempt]) => attempt > cursor.attempt).map(([, keep]) => keep);
    const keep = cursor.attempt < known - 1 ? 0 : Math.min(this.#length, ...since);
    if (cursor.attempt > this.#attempt || (since.length === 0 && cursor.at > this.#length)) return undefined;
    return { at: Math.min(cursor.at, keep), keep };
  }

  #tell(frame: AnswerFrame): void {
    for (const reader of this.#readers) reader(frame);
  }
}
