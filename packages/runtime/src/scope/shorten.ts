/**
 * What retention deletes: the lines behind a snapshot that is old enough. Those of a session that is never quiet are all
 * young: there the state in between is made from the log itself, once its oldest line is twice as old as what is kept.
 */
import type { State } from "@pawl/sansio-core";
import { recordedIn, stateAfter } from "./fold.ts";
import { turnAfter } from "./history.ts";
import type { Platform } from "../platform.ts";
import type { JournalLine, NotWritten } from "../journal/journal.ts";
import type { Retention, Taken } from "./snapshots.ts";
import type { ScopeStore } from "./scope-store.ts";
import { referredUpTo, snapshotText } from "./stored-state.ts";

export interface StoredSnapshot {
  /** The snapshot that stands. */
  readonly taken: Taken;
  /** When the oldest line was recorded that is not deleted; it is looked up where that is not known. */
  readonly oldest?: number | undefined;
}

/** So many lines are gone through at once, or a part of a long log: a store may walk to them from its end. */
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
  if (result.type !== "ok") store.fault(`${what}: ${result.type}`, result);
  return result.type === "ok";
};

/** What a state refers to among the lines that go, it refers to in every later state at most. */
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
