/** Why a scope stands where it stands, and since when its calls do. */
import { PersistentMap } from "../kernel/persistent-map.ts";
import { byBirth } from "../call/model.ts";
import type { State } from "../kernel/state.ts";
import { callReason } from "./call.ts";
import type { Why } from "./model.ts";
import { otherReasons } from "./other.ts";

/** Explains why a scope stands where it stands: what each live call waits for, and what would move it. */
export const why = (state: State): Why => ({
  calls: state.calls
    .rows()
    .toSorted(byBirth)
    .map((row) => callReason(state, row)),
  others: otherReasons(state),
});

/** For each live call the event with which it came to its phase: kept up, transition by transition, by who folds a log. */
export type Entered = PersistentMap<string, number>;

/** Begins to note where live calls entered their phases. */
export const noneEntered: Entered = PersistentMap.empty();

/** Notes where a live call entered its phase, as an event is folded. */
export const enter = (entered: Entered, before: State, after: State): Entered =>
  after.calls.changedSince(before.calls).reduce((next, key) => {
    const row = after.calls.at(key);
    if (row === undefined) return next.delete(key);
    return row.phase === before.calls.at(key)?.phase ? next : next.set(key, after.seq);
  }, entered);
