/**
 * The end of a stream, as it is in memory: what was said lately, of which the last part may not be on record yet. One
 * buffer serves all readers of a stream, and nobody's pace matters to it: a reader holds a cursor, and one that has fallen
 * behind reads the record instead. So readers cost no memory, and none can miss anything.
 *
 *        on record, and forgotten       on record        said, not on record yet
 *     ───────────────────────────────┬────────────────┬─────────────────────────┐
 *                                  start           recorded                    end
 *
 * Counts units: chunks of a list, or UTF-16 units of a text.
 */

/** A list, or a text: what can be cut and put together by its units. */
export interface Sequence<S> {
  readonly length: number;
  slice(from: number, to?: number): S;
  concat(more: S): S;
}

/** Tells those who wait that something has changed. */
export class Changes {
  #version = 0;
  #waiting: (() => void)[] = [];

  /** Grows with each change: what was read at a version still holds at that version. */
  get version(): number {
    return this.#version;
  }

  /** Wakes those who wait for a change. */
  changed(): void {
    this.#version += 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** Resolves once there was a change since a version. */
  async since(version: number): Promise<void> {
    if (version === this.#version) await new Promise<void>((wake) => this.#waiting.push(wake));
  }
}

/** Units that are on record, and are kept for readers that are almost up to date. */
const keptUnits = 512;

export class StreamBuffer<S extends Sequence<S>> extends Changes {
  #held: S;
  #start = 0;
  #attempt = 0;
  #recorded = 0;

  constructor(empty: S) {
    super();
    this.#held = empty;
  }

  /** The attempt that says something now. */
  get attempt(): number {
    return this.#attempt;
  }
  get end(): number {
    return this.#start + this.#held.length;
  }

  /** Begins an attempt: what was said from there on is void. */
  begin(attempt: number, from: number): void {
    this.#held = this.#held.slice(0, Math.max(0, from - this.#start));
    if (this.end !== from) {
      this.#held = this.#held.slice(0, 0);
      this.#start = from;
    }
    this.#attempt = attempt;
    this.#recorded = from;
    this.changed();
  }

  push(more: S): void {
    this.#held = this.#held.concat(more);
    this.changed();
  }

  /** Takes note that all units before this one are on record. */
  record(to: number): void {
    this.#recorded = Math.max(this.#recorded, to);
    const surplus = Math.min(this.#recorded, this.end) - this.#start - keptUnits;
    if (surplus > 0) {
      this.#held = this.#held.slice(surplus);
      this.#start += surplus;
    }
    this.changed();
  }

  /** Returns the units from one on, up to another; undefined where they are not in memory. */
  read(from: number, to: number): S | undefined {
    return from < this.#start || from >= Math.min(to, this.end)
      ? undefined
      : this.#held.slice(from - this.#start, to - this.#start);
  }
}
