/** What bodies ask for, and what comes of it: steps. All else is in `seldom.ts`. */
import { type CallIn, runningRow } from "../call/model.ts";
import { inPhase, isRejection, misfitOfRun } from "../call/place.ts";
import type { Draft } from "../draft.ts";
import { type Rejection, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { late } from "../part/needed.ts";
import { isForgotten } from "./ask.ts";
import type { EffectKind, OpenEffect, SettledEffect } from "./model.ts";
import { type Bodied, settleAll, withBody } from "./settle.ts";

export type Requested = EventOf<"effect.requested">;

export const isOpen = (open: readonly OpenEffect[], key: string): boolean => {
  for (const effect of open) if (effect.key === key) return true;
  return false;
};

/** `before` is what is settled under the key, if there is something. */
const conflictOfKey = (
  row: CallIn<"running">,
  event: Requested,
  before: SettledEffect | undefined,
): Rejection | undefined => {
  const { open, attempt } = row.body;
  const { call, key } = event;
  if (isOpen(open, key) || (before !== undefined && !isForgotten(before, attempt))) {
    return reject("effect_exists", `call \`${call}\`: \`${key}\` is recorded: answer it, do not record it again`);
  }
  return undefined;
};

const onRequested = (draft: Draft, event: Requested): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const { body } = row;
  const { key, hash, effect, attempt, run } = event;
  const before = body.settled.get(key);
  const misfit = misfitOfRun(row, event) ?? conflictOfKey(row, event, before);
  if (misfit !== undefined) return misfit;
  if (event.refused !== undefined) {
    draft.putCall(refuse(draft, row, event), row);
    return undefined;
  }
  if (effect.kind !== "step") return late.code.onAsked(draft, row, event);
  const { recovery } = effect;
  const open = { key, kind: "step", hash, seq: draft.seq, attempt, run, recovery } as const;
  draft.putCall(withOpen(row, open, before), row);
  draft.emit({ type: "step.run", call: row.call.ref, attempt, run, key, recovery });
  return undefined;
};

/** A request that can not be carried out is on record, and its own answer. */
const refuse = (draft: Draft, row: Bodied, { key, hash, effect, attempt, run }: Requested): Bodied => {
  const open: OpenEffect = { key, kind: effect.kind, hash, seq: draft.seq, attempt, run };
  const { body } = row;
  const asked = withBody(row, { ...body, open: [...body.open, open], settled: body.settled.delete(key) });
  return settleAll(draft, asked, open, { status: "err", value: draft.seq });
};

/** `before`: what an earlier attempt settled under the key, and is forgotten. */
export const withOpen = (
  row: CallIn<"running">,
  effect: OpenEffect,
  before: SettledEffect | undefined,
): CallIn<"running"> => {
  const { body } = row;
  const settled = before === undefined ? body.settled : body.settled.delete(effect.key);
  return runningRow(row, { ...body, resumes: 0, open: [...body.open, effect], settled }, row);
};

/** The open effect that an answer from outside is for. */
export const openEffect = (row: Bodied, key: string, ...kinds: readonly EffectKind[]): OpenEffect | Rejection => {
  const { body } = row;
  const call = row.call.ref;
  const effect = body.open.find((open) => open.key === key);
  if (effect === undefined) {
    return body.settled.has(key)
      ? reject("effect_settled", `call \`${call}\`: \`${key}\` is settled already`)
      : reject("effect_unknown", `call \`${call}\`: nothing is recorded under \`${key}\``);
  }
  if (kinds.includes(effect.kind)) return effect;
  const found = `an answer to a ${kinds.join(" or ")}`;
  return reject("effect_kind_mismatch", `call \`${call}\`: \`${key}\` is a ${effect.kind}, found ${found}`);
};

const onStepSettled = (draft: Draft, event: EventOf<"step.settled">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  const effect = openEffect(row, event.key, "step");
  if ("type" in effect) return effect;
  draft.putCall(settleAll(draft, row, effect, { status: event.result.status, value: draft.seq }), row);
  return undefined;
};

export const onEffectEvent = (
  draft: Draft,
  event: EventOf<"effect.requested" | "step.settled">,
): Rejection | undefined => (event.type === "step.settled" ? onStepSettled(draft, event) : onRequested(draft, event));
