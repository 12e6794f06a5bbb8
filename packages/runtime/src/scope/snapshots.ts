/**
 * Snapshots of one scope: taken when the events since the last outweigh it, of what is durable, between the turns. With
 * retention the log is shortened then.
 */
import type { State } from "@pawl/sansio-core";
import type { Journal, JournalLine } from "../journal/journal.ts";
import { type Opened, begun } from "./load-scope.ts";
import type { Platform } from "../platform.ts";
import { type StoredSnapshot, shortened } from "./shorten.ts";
import { snapshotText } from "./stored-state.ts";

/** How long logs are kept. */
export interface Retention {
  /** Lines that are so old are deleted: at the latest when the log reaches back twice as far. */
  readonly olderThanMs: number;
}

export interface SnapshotOptions {
  /** Of sessions; without it logs are kept whole. */
  readonly retention?: Retention;
  /** A snapshot is taken after so many characters of events, or as many as the last one has: 65,536. */
  readonly snapshotAfter?: number;
}

/** A snapshot that stands in the store: of which event, when that was, and how many characters it has. */
export interface Taken {
  readonly seq: number;
  readonly at: number;
  readonly size: number;
}

export interface SnapshotPort {
  readonly platform: Platform;
  readonly keep: (seq: number, text: string) => ReturnType<Journal["snapshot"]>;
  /** Deletes the lines up to the snapshot that stands, but for these. */
  readonly retain: (keep: readonly number[]) => ReturnType<Journal["retain"]>;
  readonly retention: Retention | undefined;
  /** The state where the log begins, and the lines of it. */
  readonly begun: () => Promise<State>;
  readonly readLines: (from: number, to: number) => Promise<readonly JournalLine[]>;
  /** Fewer characters of events are read again faster than a snapshot. */
  readonly least: number | undefined;
  readonly fault: (what: string, thrown: unknown) => void;
  /** One that was due is taken. */
  readonly taken: () => void;
}

/** Whether and how a scope's log is shortened. What a process is asked for later stands in its log, which is kept. */
export const snapshotsOf = (
  { journal, retention, snapshotAfter: least }: SnapshotOptions & { readonly journal: Journal },
  scope: string,
  epoch: number,
): Omit<SnapshotPort, "platform" | "fault" | "taken"> => ({
  begun: () => begun(journal, scope),
  readLines: (from, to) => journal.read(scope, from, to),
  keep: (seq, text) => journal.snapshot(scope, epoch, seq, text),
  retain: (keep) => journal.retain(scope, epoch, keep),
  retention: scope.startsWith("session:") ? retention : undefined,
  least,
});

const usualLeast = 65_536;
/** How long a snapshot that is due may wait for a turn of its own. */
const delayMs = 20;

export class Snapshots {
  readonly #port: SnapshotPort;
  #stored: StoredSnapshot | undefined;
  /** Of the events since, in characters; also of those that were there when the scope was opened. */
  #since: number;
  #durable: State | undefined;
  #callOff: (() => void) | undefined;
  #isTaking = false;

  constructor(port: SnapshotPort, { snapshot, since }: Omit<Opened, "state">) {
    this.#port = port;
    this.#stored = snapshot && { taken: snapshot };
    this.#since = since;
  }

  /** Whether none is due: a scope that left memory before would come back to a longer log each time. */
  get isEmpty(): boolean {
    return this.#callOff === undefined && !this.#isTaking;
  }

  /** So many characters of events are durable, and this is the state after them. */
  note(durable: State, characters: number): void {
    this.#since += characters;
    this.#durable = durable;
    const { least = usualLeast } = this.#port;
    if (this.#since < Math.max(least, this.#stored?.taken.size ?? 0) || this.#callOff !== undefined || this.#isTaking)
      return;
    this.#callOff = this.#port.platform.later(delayMs, () => void this.#take());
  }

  stop(): void {
    this.#callOff?.();
    this.#durable = undefined;
  }

  async #take(): Promise<void> {
    this.#callOff = undefined;
    const state = this.#durable;
    if (state === undefined) return;
    this.#isTaking = true;
    this.#since = 0;
    try {
      await this.#retain(state).catch((thrown: unknown) => this.#port.fault("the log was not shortened", thrown));
      await this.#keep(state);
    } catch (thrown) {
      this.#port.fault("a snapshot could not be made", thrown);
    } finally {
      this.#isTaking = false;
    }
    this.#port.taken();
  }

  async #keep(state: State): Promise<void> {
    const { seq, at } = state;
    const text = snapshotText(state);
    const result = await this.#port.keep(seq, text);
    if (result.type === "ok") this.#stored = { ...this.#stored, taken: { seq, at, size: text.length } };
    else this.#port.fault(`a snapshot was not taken: ${result.type}`, result);
  }

  async #retain(state: State): Promise<void> {
    const { retention } = this.#port;
    if (retention === undefined || this.#stored === undefined) return;
    this.#stored = await shortened(this.#port, retention, this.#stored, state);
  }
}
