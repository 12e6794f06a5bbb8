/** What other concerns tell of a body's effects: they end, they are due, the body is over. */
import { withNested } from "./nested.ts";
import { bodyOf } from "./model.ts";
import { known } from "./place.ts";
import type { Draft } from "../kernel/draft.ts";
import { type CallRef, effectBatch } from "../kernel/ids.ts";
import type { SignalOf } from "../kernel/signal.ts";
import type { OpenEffect } from "./effect-model.ts";
import { endEffect } from "./wake.ts";

/** An end that is meant for an effect whose key another has by now is nobody's. */
export const onEffectEnd = (draft: Draft, { call, key, status, value, requested }: SignalOf<"effect.end">): void => {
  const row = draft.call(call);
  if (row === undefined) return;
  const open = bodyOf(row)?.open.find((effect) => effect.key === key);
  if (requested === undefined || open?.seq === requested) endEffect(draft, call, key, { status, value });
};

/** The earliest of a body's sleeps and waits is over. */
export const onEffectsExpire = (draft: Draft, { call }: SignalOf<"effects.expire">): void => {
  const open = bodyOf(known(draft, call))?.open ?? [];
  const [first] = open
    .filter(({ due }) => due !== undefined && due.at <= draft.at)
    .toSorted((a, b) => (a.due?.at ?? 0) - (b.due?.at ?? 0) || a.seq - b.seq);
  if (first === undefined) return;
  if (first.wait !== undefined)
    draft.raise({ type: "wait.leave", key: first.wait, waiter: { call, effect: first.key } });
  endEffect(draft, call, first.key, { status: first.kind === "sleep" ? "ok" : "err", value: draft.seq });
};

const leaveWaits = (draft: Draft, call: CallRef, effects: readonly OpenEffect[]): void => {
  for (const { wait, key } of effects) {
    if (wait !== undefined) draft.raise({ type: "wait.leave", key: wait, waiter: { call, effect: key } });
  }
};

/** A body is over: it waits for nothing any more, and what it began ends with it. */
export const onCallLeft = (draft: Draft, { call, effects }: SignalOf<"call.left">): void => {
  leaveWaits(draft, call, effects);
  const own = effects.filter(({ kind }) => kind === "batch").map(({ key }) => effectBatch(call, key));
  const batches = withNested(draft, own).filter((ref) => draft.batch(ref) !== undefined);
  for (const batch of batches) {
    for (const child of draft.batch(batch)?.calls ?? [])
      leaveWaits(draft, child, bodyOf(known(draft, child))?.open ?? []);
  }
  if (batches.length > 0) draft.raise({ type: "calls.drop", batches });
};
