/** Open effects become settled ones, and the body hears of it. */
import { type BodyState, type CallIn, earliestDue, runningRow } from "./model.ts";
import type { Draft } from "../kernel/draft.ts";
import type { EffectStatus, OpenEffect, SettledEffect } from "./effect-model.ts";
import { decideSelect } from "./select.ts";

export type Bodied =
  | CallIn<"running" | "resuming" | "suspended" | "no_executor" | "backing_off" | "unknown">
  | (CallIn<"awaiting_approval"> & { readonly body: BodyState });

/** How an effect ended: where its value stands, and for a select, who won. */
export interface End {
  readonly status: EffectStatus;
  readonly value: number;
  readonly winner?: string;
}

/** The row with a changed body, and with the deadline that follows from it. */
export const withBody = (row: Bodied, body: BodyState): Bodied => {
  switch (row.phase) {
    case "running":
      return runningRow(row, body, row);
    case "suspended": {
      const { call, tool, args, observed } = row;
      return { call, tool, args, observed, phase: "suspended", body, due: earliestDue(body.open) };
    }
    default:
      return { ...row, body };
  }
};

const settledEffect = (draft: Draft, body: BodyState, effect: OpenEffect, end: End): SettledEffect => ({
  kind: effect.kind,
  hash: effect.hash,
  status: end.status,
  attempt: body.attempt,
  requested: effect.seq,
  settled: draft.seq,
  index: draft.nextAnswer(),
  value: end.value,
  winner: end.winner,
  once: effect.recovery === "once",
});

/** Tells a running body what its log says. */
export const answer = (draft: Draft, { call, body }: Bodied, key: string, settled: SettledEffect): void =>
  draft.emit({
    type: "step.answer",
    call: call.ref,
    attempt: body.attempt,
    run: body.run,
    key,
    seq: settled.settled,
    index: settled.index,
    value: settled.value,
  });

const none: readonly OpenEffect[] = [];

/** Writes one end into a body. */
const settleOne = (draft: Draft, row: Bodied, effect: OpenEffect, end: End): Bodied => {
  const { body } = row;
  const settled = settledEffect(draft, body, effect, end);
  const open = body.open.length === 1 ? none : body.open.filter((other) => other !== effect);
  if (row.phase === "running") answer(draft, row, effect.key, settled);
  return withBody(row, { ...body, resumes: 0, open, settled: body.settled.set(effect.key, settled) });
};

/** The first open select that is decided now. */
const decided = ({ open, settled }: BodyState): readonly [OpenEffect, End] | undefined => {
  for (const effect of open) {
    if (effect.select === undefined) continue;
    const won = decideSelect(effect.select.mode, effect.select.keys, settled);
    if (won === undefined) continue;
    const by = settled.get(won.key);
    return [effect, { status: won.status, value: by?.value ?? by?.settled ?? 0, winner: won.key }];
  }
  return undefined;
};

/** Ends an effect and every select that it decides. */
export const settleAll = (draft: Draft, row: Bodied, effect: OpenEffect, end: End): Bodied => {
  let next = settleOne(draft, row, effect, end);
  if (next.body.open.length === 0) return next;
  for (let more = decided(next.body); more !== undefined; more = decided(next.body)) {
    next = settleOne(draft, next, ...more);
  }
  return next;
};
