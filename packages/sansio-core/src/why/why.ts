/** Why a scope stands where it stands, and since when its calls do. */
import { Map as PersistentMap } from "immutable";
import type { CallRow } from "../call/model.ts";
import type { State } from "../state.ts";
import { callReason } from "./call.ts";
import type { Why } from "./model.ts";
import { otherReasons } from "./other.ts";

const byBirth = ({ call: a }: CallRow, { call: b }: CallRow): number =>
  a.born - b.born || a.index - b.index || (a.ref < b.ref ? -1 : 1);

export const why = (state: State): Why => ({
  calls: state.calls
    .rows()
    .toSorted(byBirth)
    .map((row) => callReason(state, row)),
  others: otherReasons(state),
});

/** For each live call the event with which it came to its phase: kept up, transition by transition, by who folds a log. */
export type Entered = PersistentMap<string, number>;

export const noneEntered: Entered = PersistentMap();

export const enter = (entered: Entered, before: State, after: State): Entered =>
  entered.withMutations((next) => {
    for (const key of after.calls.changedSince(before.calls)) {
      const row = after.calls.at(key);
      if (row === undefined) next.delete(key);
      else if (row.phase !== before.calls.at(key)?.phase) next.set(key, after.seq);
    }
  });
