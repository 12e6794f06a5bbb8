/** Batches inside bodies inside batches. */
import { bodyOf } from "./model.ts";
import type { Draft } from "../kernel/draft.ts";
import { type BatchRef, type CallRef, effectBatch } from "../kernel/ids.ts";

/** The batches that a call's body has open. */
export const batchesOfCall = (draft: Draft, call: CallRef): readonly BatchRef[] => {
  const row = draft.call(call);
  const open = row === undefined ? [] : (bodyOf(row)?.open ?? []);
  return open.filter(({ kind }) => kind === "batch").map(({ key }) => effectBatch(call, key));
};

/** These batches and all below them, from the top. */
export const withNested = (draft: Draft, batches: readonly BatchRef[]): readonly BatchRef[] => {
  const all: BatchRef[] = [...batches];
  for (let i = 0; i < all.length; i++) {
    const calls = draft.batch(all[i] as BatchRef)?.calls ?? [];
    for (const call of calls) all.push(...batchesOfCall(draft, call));
  }
  return all;
};
