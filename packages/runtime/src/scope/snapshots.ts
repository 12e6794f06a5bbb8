/**
 * Snapshots of one scope: taken when the events since the last outweigh it, of what is durable, between the turns. With
 * retention the log is shortened then.
 */
import type { State } from "@pawl/sansio-core";
import type { ScopeStore } from "./scope-store.ts";
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

const usualLeast = 65_536;
/** How long a snapshot that is due may wait for a turn of its own. */
const delayMs = 20;

export class Snapshots {
  readonly #store: ScopeStore;
  readonly #platform: Platform;
  /** Tells the scope that a snapshot which was due is taken. */
  readonly #taken: () => void;
  #stored: StoredSnapshot | undefined;
  /** Of the events since, in characters; also of those that were there when the scope was opened. */
  #since: number;
  #durable: State | undefined;
  #callOff: (() => void) | undefined;
  #isTaking = false;

  constructor(store: ScopeStore, platform: Platform, taken: () => void) {
    const { snapshot, since } = store.opened;
    this.#store = store;
    this.#platform = platform;
    this.#taken = taken;
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
    const { snapshotAfter: least = usualLeast } = this.#store;
    if (this.#since < Math.max(least, this.#stored?.taken.size ?? 0) || this.#callOff !== undefined || this.#isTaking)
      return;
    this.#callOff = this.#platform.later(delayMs, () => void this.#take());
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
      await this.#retain(state).catch((thrown: unknown) => this.#store.fault("the log was not shortened", thrown));
      await this.#keep(state);
    } catch (thrown) {
      this.#store.fault("a snapshot could not be made", thrown);
    } finally {
      this.#isTaking = false;
    }
    this.#taken();
  }

  async #keep(state: State): Promise<void> {
    const { seq, at } = state;
    const text = snapshotText(state);
    const result = await this.#store.snapshot(seq, text);
    if (result.type === "ok") this.#stored = { ...this.#stored, taken: { seq, at, size: text.length } };
    else this.#store.fault(`a snapshot was not taken: ${result.type}`, result);
  }

  async #retain(state: State): Promise<void> {
    const { retention } = this.#store;
    if (retention === undefined || this.#stored === undefined) return;
    this.#stored = await shortened(this.#store, this.#platform, retention, this.#stored, state);
  }
}
