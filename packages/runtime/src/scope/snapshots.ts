/**
 * Snapshots of one scope, and log compaction. A snapshot of the durable state is taken between turns, once the events
 * since the last one outweigh it. With retention, lines behind a snapshot that is old enough are deleted then. A session
 * that is never quiet has young snapshots only: there the state in between is made from the log itself, once its oldest
 * line is twice as old as what is kept.
 */
import type { State } from "@pawl/sansio-core";
import { recordedIn, stateAfter, turnAfter } from "./history.ts";
import type { Platform } from "../platform.ts";
import type { JournalLine, NotWritten } from "../journal/journal.ts";
import type { ScopeStore } from "./scope-store.ts";
import { referredUpTo, snapshotInTurns, snapshotText } from "./open-scope.ts";

interface StoredSnapshot {
  readonly taken: Taken;
  /** Time of the oldest line that is not deleted; looked up where it is not known. */
  readonly oldest?: number | undefined;
}

/** Lines that are read at once, or the part of a long log: a store may walk to them from its end. */
const linesAtOnce = 512;
const parts = 16;

async function* linesAfter(seq: number, { readLines }: ScopeStore, atOnce: number): AsyncGenerator<JournalLine> {
  for (let from = seq + 1; ; from += atOnce) {
    const lines = await readLines(from, from + atOnce - 1);
    yield* lines;
    if (lines.length < atOnce) return;
  }
}

const oldestIn = async (scope: string, { begun, readLines }: ScopeStore): Promise<number> => {
  const { seq } = await begun();
  const [line] = await readLines(seq + 1, seq + 1);
  return line === undefined ? Infinity : recordedIn(scope, line).at;
};

const isDone = (store: ScopeStore, what: string, result: { readonly type: "ok" } | NotWritten): boolean => {
  const isOthers = result.type === "fenced"; // Another host has claimed the scope, and this one hears of it.
  if (result.type !== "ok" && !isOthers) store.fault(`${what}: ${result.type}`, result);
  return result.type === "ok";
};

/** Deletes lines up to a snapshot, except those that the state refers to: later states refer to no others of them. */
const cut = async (store: ScopeStore, state: State, taken: Taken): Promise<boolean> =>
  isDone(store, "the log was not shortened", await store.retain(referredUpTo(state, taken.seq)));

/** Makes the state up to a time, or as far as is gone through at once, to the end of an append; and cuts there. */
const cutBetween = async (
  store: ScopeStore,
  platform: Platform,
  newest: State,
  limit: number,
): Promise<StoredSnapshot | undefined> => {
  const { id } = newest.scope;
  const base = await store.begun();
  const atOnce = Math.max(linesAtOnce, Math.ceil((newest.seq - base.seq) / parts));
  let state = base;
  for await (const line of linesAfter(base.seq, store, atOnce)) {
    const recorded = recordedIn(id, line);
    const { at } = recorded;
    const isFar = at > limit || state.seq >= base.seq + atOnce;
    if (isFar && (state === base || state.at > limit)) return undefined; // An append that reaches so far stays whole.
    if (isFar && at > state.at) {
      // Lines of one append are mostly of one time: its end is looked for between two.
      const text = snapshotText(state);
      const kept = await store.snapshot(state.seq, text);
      const taken = { seq: state.seq, at: state.at, size: text.length };
      if (kept.type === "ok") return (await cut(store, newest, taken)) ? { taken, oldest: at } : { taken };
      if (kept.type !== "conflict") return void isDone(store, "a snapshot was not taken", kept);
    }
    state = stateAfter(id, state, recorded, line.seq);
    await turnAfter(platform, line.seq);
  }
  return undefined;
};

/** Shortens the log of a scope if it is time, and says what stands then. */
export const shortened = async (
  store: ScopeStore,
  platform: Platform,
  { olderThanMs }: Retention,
  standing: StoredSnapshot,
  state: State,
): Promise<StoredSnapshot> => {
  const limit = platform.now() - olderThanMs;
  const { taken } = standing;
  if (taken.at <= limit) return (await cut(store, state, taken)) ? { taken, oldest: taken.at } : standing;
  const oldest = standing.oldest ?? (await oldestIn(state.scope.id, store));
  const isLong = oldest <= limit - olderThanMs;
  return (isLong ? await cutBetween(store, platform, state, limit) : undefined) ?? { taken, oldest };
};

export interface Retention {
  /** Lines that are so old are deleted: at the latest when the log reaches back twice as far. */
  readonly olderThanMs: number;
}

export interface SnapshotOptions {
  /** Applies to sessions. Without it logs are kept whole. */
  readonly retention?: Retention;
  /** Characters of events after which a snapshot is taken, at least as many as the last one has: 65,536 by default. */
  readonly snapshotAfter?: number;
}

/** A snapshot in the store: its event, the time of that, and its size in characters. */
export interface Taken {
  readonly seq: number;
  readonly at: number;
  readonly size: number;
}

const usualLeast = 65_536;
/** Delay of a snapshot that is due, until the turn is over. */
const delayMs = 20;

export class Snapshots {
  readonly #store: ScopeStore;
  readonly #platform: Platform;
  /** Tells the scope that a snapshot which was due is taken. */
  readonly #taken: () => void;
  #stored: StoredSnapshot | undefined;
  /** Characters of events since the newest snapshot, also of those that were there when the scope was opened. */
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

  /** Says whether none is due. A scope that left memory before would come back to a longer log each time. */
  get isEmpty(): boolean {
    return this.#callOff === undefined && !this.#isTaking;
  }

  /** Takes note of the newest durable state, with so many more characters of events. */
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
    const text = await snapshotInTurns(state, this.#platform);
    const result = await this.#store.snapshot(seq, text);
    if (isDone(this.#store, "a snapshot was not taken", result))
      this.#stored = { ...this.#stored, taken: { seq, at, size: text.length } };
  }

  async #retain(state: State): Promise<void> {
    const { retention } = this.#store;
    if (retention === undefined || this.#stored === undefined) return;
    this.#stored = await shortened(this.#store, this.#platform, retention, this.#stored, state);
  }
}
