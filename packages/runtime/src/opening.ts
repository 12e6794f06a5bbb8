/** The state of a scope as its store has it: of a snapshot and the lines after it, or of the whole log. */
import { type State, initial, restore } from "@pawl/sansio-core";
import { describe, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { Quarantined, foldLines } from "./fold.ts";
import type { Journal, Snapshot } from "./journal.ts";

const restored = (scope: string, { seq, text }: Snapshot): E.Either<string, State> => {
  const state = E.chain(restore)(parse(text, noLimits));
  if (E.isLeft(state)) return E.left(describe(state.left));
  const { right } = state;
  if (right.scope.id !== scope) return E.left(`it is of ${right.scope.id}`);
  return right.seq === seq ? state : E.left(`it is of event ${right.seq}`);
};

/** Where the log begins: at its first line, or behind what retention left. */
const begun = async (journal: Journal, scope: string): Promise<State> => {
  const segment = await journal.segment(scope);
  if (segment === undefined) return initial(scope);
  const state = restored(scope, { seq: segment.base, text: segment.snapshot });
  if (E.isLeft(state)) throw new Quarantined(scope, `what retention left does not restore: ${state.left}`);
  return state.right;
};

const folded = async (journal: Journal, scope: string, from: State): Promise<State> =>
  foldLines(scope, await journal.read(scope, from.seq + 1), from);

const fromSnapshot = async (journal: Journal, scope: string, snapshot: Snapshot): Promise<E.Either<string, State>> => {
  const state = restored(scope, snapshot);
  if (E.isLeft(state)) return state;
  try {
    return E.right(await folded(journal, scope, state.right));
  } catch (thrown) {
    if (thrown instanceof Quarantined) return E.left(thrown.message);
    throw thrown;
  }
};

/** A snapshot only makes opening cheap: one that does not restore is a fault, and the log says the same. */
export const openState = async (
  journal: Journal,
  scope: string,
  snapshot: Snapshot | undefined,
  fault: (what: string) => void,
): Promise<State> => {
  if (snapshot === undefined) return folded(journal, scope, await begun(journal, scope));
  const state = await fromSnapshot(journal, scope, snapshot);
  if (E.isRight(state)) return state.right;
  fault(`the snapshot at event ${snapshot.seq} does not restore: ${state.left}`);
  return folded(journal, scope, await begun(journal, scope));
};
