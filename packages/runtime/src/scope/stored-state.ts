/** States as their snapshots have them. */
import { type State, restore, snapshot } from "@pawl/sansio-core";
import { referredTo } from "@pawl/sansio-core/driver";
import { type Json, describe, noLimits, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Snapshot } from "../journal/journal.ts";
import { sealedHere } from "../journal/seal.ts";

const isSealed = (json: Json): boolean => typeof json === "object" && json !== null && Object.hasOwn(json, "sealed");

export const restored = (scope: string, { seq, text }: Snapshot): E.Either<string, State> => {
  const json = parse(text, noLimits);
  if (E.isRight(json) && isSealed(json.right)) throw sealedHere(scope);
  const state = E.isLeft(json) ? json : restore(json.right);
  if (E.isLeft(state)) return E.left(describe(state.left));
  const { right } = state;
  if (right.scope.id !== scope) return E.left(`it is of ${right.scope.id}`);
  return right.seq === seq ? state : E.left(`it is of event ${right.seq}`);
};

export const snapshotText = (state: State): string => stringify(snapshot(state) as Json);

/** The lines that a state refers to, among those up to an event. */
export const referredUpTo = (state: State, last: number): readonly number[] =>
  referredTo(state).filter((seq) => seq <= last);
