/** Ends effects: by an answer from outside, by a signal, or with the body; the body hears of it. */
import { type EffectKind, type EffectStatus, type OpenEffect, type SettledEffect, decideSelect } from "./effect.ts";
import { isForgotten } from "./ask.ts";
import { recorded } from "../recovery/owner-lost.ts";
import { resuming } from "../launch.ts";
import { readsFirstAnswers } from "../life.ts";
import type { BodyState, CallIn, CallRow } from "../model.ts";
import { bodyOf, earliestDue, inPhase, isRejection, known, putCall, runningRow, withPatches } from "../row.ts";
import { withNested } from "../batch.ts";
import { cleaned } from "../stop.ts";
import type { Draft } from "../../kernel/draft.ts";
import { type Rejection, reject } from "../../kernel/error.ts";
import { hasRule } from "../../kernel/protocol.ts";
import { type BatchRef, type CallRef, type EventOf, type SignalOf, effectBatch } from "../../kernel/vocabulary.ts";
import { firstDifference, repliesOf } from "../../request/model.ts";

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
    case "suspended":
      return { ...row, body, due: earliestDue(body.open) };
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
  first: undefined,
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

const withLosers = (open: readonly OpenEffect[], keys: readonly string[]): readonly OpenEffect[] =>
  open.map((effect) => (keys.includes(effect.key) ? { ...effect, loser: true } : effect));

/** The effects that stay open. Those that a decided select had to choose from, and did not, are its losers. */
const withoutDecided = (draft: Draft, open: readonly OpenEffect[], decided: OpenEffect): readonly OpenEffect[] => {
  const rest = open.filter((other) => other !== decided);
  const { select } = decided;
  if (select === undefined || !hasRule(draft.scope.protocol, "waits_for_effects")) return rest;
  return withLosers(rest, select.keys);
};

/** Writes one end into a body. */
const settleOne = (draft: Draft, row: Bodied, effect: OpenEffect, end: End): Bodied => {
  const { body } = row;
  const settled = settledEffect(draft, body, effect, end);
  const open = body.open.length === 1 ? none : withoutDecided(draft, body.open, effect);
  if (row.phase === "running") answer(draft, row, effect.key, settled);
  return withBody(row, recorded(draft, body, open, body.settled.set(effect.key, settled)));
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

// Ends what a body waited for; a body that was dropped meanwhile starts again.

/** A body that was dropped while it waited starts again when something comes. */
const wake = (draft: Draft, row: Bodied): CallRow =>
  row.phase === "suspended" ? resuming(draft, row, { body: row.body, cause: "suspended" }) : row;

/** Ends an open effect of a call, if it is still open: an end that comes late changes nothing. */
export const endEffect = (draft: Draft, ref: CallRef, key: string, end: End): void => {
  const row = known(draft, ref);
  const effect = bodyOf(row)?.open.find((open) => open.key === key);
  if (effect === undefined) return;
  putCall(draft, wake(draft, settleAll(draft, row as Bodied, effect, end)), row);
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

const waiting = ["running", "suspended", "resuming", "no_executor", "backing_off", "unknown"] as const;

/** The call whose body waits for an answer, wherever it is meanwhile. */
export const bodied = (draft: Draft, call: string): Bodied | Rejection => {
  const row = inPhase(draft, call, ...waiting, "awaiting_approval");
  if (isRejection(row) || row.phase !== "awaiting_approval") return row;
  const { body } = row;
  return body === undefined ? reject("effect_unknown", `call \`${call}\` has not started`) : { ...row, body };
};

export const onHostAnswered = (draft: Draft, event: EventOf<"host.answered">): Rejection | undefined => {
  const row = bodied(draft, event.call);
  if (isRejection(row)) return row;
  const effect = openEffect(row, event.key, "host", "trigger");
  if ("type" in effect) return effect;
  const problem = problemOfRequest(draft, effect, event);
  if (problem !== undefined) return problem;
  const { result, keeps } = event;
  endEffect(draft, row.call.ref, event.key, { status: result.status, value: draft.seq });
  if (keeps !== undefined) draft.raise({ type: "value.keep", ...keeps });
  if (effect.kind !== "trigger" || result.status !== "ok") return undefined;
  for (const batch of batchesAbove(draft, row))
    draft.raise({ type: "batch.triggered", batch, occurrence: result.value });
  return undefined;
};

/** Refuses the answer to another request: a body that began anew may have asked under the same key. */
const problemOfRequest = (
  draft: Draft,
  { seq, hash }: OpenEffect,
  event: EventOf<"host.answered">,
): Rejection | undefined => {
  if (!hasRule(draft.scope.protocol, "host_answer_names_request")) return undefined;
  if (event.seq === seq && event.hash === hash) return undefined;
  const found = event.seq === undefined ? "an answer that names no request" : `one of event ${event.seq}`;
  const expected = `expected an answer to the request of event ${seq} with input ${hash}`;
  return reject(
    "stale_answer",
    `call \`${event.call}\`: \`${event.key}\`: ${expected}, found ${found} (${event.hash})`,
  );
};

/** The batch of a call, and with it those of the calls that it stands below: the request's comes last. */
const batchesAbove = (draft: Draft, { call }: CallRow): readonly BatchRef[] => {
  const above: BatchRef[] = [call.batch];
  if (!hasRule(draft.scope.protocol, "nested_triggers")) return above;
  for (let batch = draft.batch(call.batch); batch?.parent !== undefined; batch = draft.batch(above.at(-1) as BatchRef))
    above.push(known(draft, batch.parent.call).call.batch);
  return above;
};

/** The replies are on record: the batch and its calls have done their work. */
export const onRepliesRecorded = (draft: Draft, event: EventOf<"replies.recorded">): Rejection | undefined => {
  const row = bodied(draft, event.call);
  if (isRejection(row)) return row;
  const effect = openEffect(row, event.key, "batch");
  if ("type" in effect) return effect;
  const { ref } = row.call;
  const batch = draft.batch(effectBatch(ref, event.key));
  if (batch?.phase !== "ended")
    return reject("wrong_phase", `the batch \`${event.key}\` of call \`${ref}\` has not ended`);
  const difference = firstDifference(
    repliesOf((child) => draft.call(child), batch),
    event.replies,
  );
  if (difference !== undefined)
    return reject("replies_mismatch", `the batch \`${event.key}\` of call \`${ref}\`: ${difference}`);
  draft.dropCalls(batch.calls);
  draft.dropBatch(batch.ref);
  endEffect(draft, ref, event.key, { status: "ok", value: draft.seq });
  heardOfCleaning(draft, ref);
  return undefined;
};

/** A call that was told to stop waited for what it had called to clean up: its grace begins when that is over. */
const heardOfCleaning = (draft: Draft, call: CallRef): void => {
  const row = known(draft, call);
  const isWaiting = row.phase === "running" && row.cancelled?.due === undefined && row.cancelled?.cleans === false;
  if (isWaiting) putCall(draft, cleaned(draft, row, row.cancelled), row);
};

/** The first ask, in an attempt, for what an earlier one settled: the answer takes its place in the log from here. */
export const onEffectReused = (draft: Draft, event: EventOf<"effect.reused">): Rejection | undefined => {
  const found = inPhase(draft, event.call, "running");
  if (isRejection(found)) return found;
  const row = withPatches(found, event.patched);
  const { body } = row;
  if (event.attempt !== body.attempt) {
    return reject("stale_attempt", `call \`${event.call}\`: expected attempt ${body.attempt}, found ${event.attempt}`);
  }
  const effect = body.settled.get(event.key);
  if (effect === undefined)
    return reject("effect_unknown", `call \`${event.call}\`: nothing settled under \`${event.key}\``);
  if (effect.attempt === body.attempt || isForgotten(effect, body.attempt)) {
    return reject("effect_exists", `call \`${event.call}\`: \`${event.key}\` is not one to reuse`);
  }
  const reused = {
    ...effect,
    attempt: body.attempt,
    requested: draft.seq,
    settled: draft.seq,
    index: draft.nextAnswer(),
    first: readsFirstAnswers(draft.scope.protocol, body) ? (effect.first ?? effect.settled) : undefined,
  };
  const settled = body.settled.set(event.key, reused);
  const open = event.keys === undefined ? body.open : withLosers(body.open, event.keys);
  putCall(draft, withBody(row, recorded(draft, body, open, settled)), row);
  answer(draft, row, event.key, reused);
  return undefined;
};

// Signals: an effect ends, or its body is over.

/** An end that is meant for an effect whose key another has by now is nobody's. */
export const onEffectEnd = (draft: Draft, { call, key, status, value, requested }: SignalOf<"effect.end">): void => {
  const row = draft.call(call);
  if (row === undefined) return;
  const open = bodyOf(row)?.open.find((effect) => effect.key === key);
  if (requested === undefined || open?.seq === requested) endEffect(draft, call, key, { status, value });
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
