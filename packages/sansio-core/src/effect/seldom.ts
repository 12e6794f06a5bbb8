/** What bodies ask for besides steps, and what comes of it. */
import { withNested } from "../batch/nested.ts";
import { type CallIn, bodyOf, runningRow } from "../call/model.ts";
import { cleaned } from "../call/stop.ts";
import { inPhase, isRejection, known } from "../call/place.ts";
import { deadlineIn } from "../deadline.ts";
import type { Draft } from "../draft.ts";
import { type Rejection, absurd, reject } from "../error.ts";
import type { EventOf } from "../event.ts";
import { type CallRef, effectBatch } from "../ids.ts";
import type { Signal } from "../signal.ts";
import { misfitOfLink } from "../link/room.ts";
import { isForgotten } from "./ask.ts";
import { repliesOf } from "../request/replies.ts";
import { firstDifference } from "../request/difference.ts";
import { conflictOfSpec } from "./conflict.ts";
import type { EffectEvent, OpenEffect } from "./model.ts";
import { perform } from "./perform.ts";
import { decideSelect } from "./select.ts";
import { type Bodied, answer, settleAll, withBody } from "./settle.ts";
import { type Requested, openEffect, withOpen } from "./step.ts";
import { endEffect } from "./wake.ts";

type Of<T extends Signal["type"]> = Extract<Signal, { readonly type: T }>;

const opened = (draft: Draft, { key, hash, effect, attempt, run }: Requested): OpenEffect => {
  const open = { key, kind: effect.kind, hash, seq: draft.seq, attempt, run };
  const due = (ms: number): OpenEffect["due"] & {} => deadlineIn(draft, ms);
  switch (effect.kind) {
    case "sleep":
      return { ...open, due: due(effect.ms) };
    case "wait":
      return effect.deadline_ms === undefined
        ? { ...open, wait: effect.wait }
        : { ...open, wait: effect.wait, due: due(effect.deadline_ms) };
    case "select":
      return { ...open, select: { mode: effect.mode, keys: effect.keys } };
    case "cleanup":
      return { ...open, cleanupMs: effect.deadline_ms };
    case "step":
    case "host":
    case "trigger":
    case "batch":
    case "message":
    case "event":
      return open;
  }
};

/** Only a process has a log for events of its own, and a link takes more when some of it is answered. */
const misfitOfScope = (draft: Draft, { effect }: Requested): Rejection | undefined => {
  const { process, scope } = draft;
  if (effect.kind === "message") return misfitOfLink(draft, effect.to);
  return effect.kind === "event" && process === undefined
    ? reject("process_unknown", `\`${scope.id}\` is no process`)
    : undefined;
};

/** A select over what is settled already is decided as it is made; a call that is cancelled has a clean-up at once. */
const decideAtOnce = (draft: Draft, row: CallIn<"running">, effect: OpenEffect): Bodied => {
  if (effect.kind === "cleanup" && row.cancelled !== undefined) {
    const cancelled = { ...row.cancelled, cleans: true, due: undefined };
    return settleAll(draft, runningRow(row, row.body, { ...row, cancelled }), effect, {
      status: "ok",
      value: draft.seq,
    });
  }
  if (effect.select === undefined) return row;
  const { settled } = row.body;
  const won = decideSelect(effect.select.mode, effect.select.keys, settled);
  if (won === undefined) return row;
  const by = settled.get(won.key);
  return settleAll(draft, row, effect, { status: won.status, value: by?.value ?? draft.seq, winner: won.key });
};

/** A request that is for no step. */
export const onAsked = (draft: Draft, row: CallIn<"running">, event: Requested): Rejection | undefined => {
  const refusal = conflictOfSpec(draft, row, event) ?? misfitOfScope(draft, event);
  if (refusal !== undefined) return refusal;
  const effect = opened(draft, event);
  const next = withOpen(row, effect, row.body.settled.get(event.key));
  draft.putCall(decideAtOnce(draft, next, effect), row);
  perform(draft, row, event);
  return undefined;
};

const waiting = ["running", "suspended", "resuming", "no_executor", "backing_off", "unknown"] as const;

/** The call whose body waits for an answer, wherever it is meanwhile. */
const bodied = (draft: Draft, call: string): Bodied | Rejection => {
  const row = inPhase(draft, call, ...waiting, "awaiting_approval");
  if (isRejection(row) || row.phase !== "awaiting_approval") return row;
  const { body } = row;
  return body === undefined ? reject("effect_unknown", `call \`${call}\` has not started`) : { ...row, body };
};

const onHostAnswered = (draft: Draft, event: EventOf<"host.answered">): Rejection | undefined => {
  const row = bodied(draft, event.call);
  if (isRejection(row)) return row;
  const effect = openEffect(row, event.key, "host", "trigger");
  if ("type" in effect) return effect;
  const { result } = event;
  endEffect(draft, row.call.ref, event.key, { status: result.status, value: draft.seq });
  if (effect.kind === "trigger" && result.status === "ok") {
    draft.raise({ type: "batch.triggered", batch: row.call.batch, occurrence: result.value });
  }
  return undefined;
};

/** The replies are on record: the batch and its calls have done their work. */
const onReplies = (draft: Draft, event: EventOf<"replies.recorded">): Rejection | undefined => {
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
  for (const child of batch.calls) draft.dropCall(child);
  draft.dropBatch(batch.ref);
  endEffect(draft, ref, event.key, { status: "ok", value: draft.seq });
  heardOfCleaning(draft, ref);
  return undefined;
};

/** A call that was told to stop waited for what it had called to clean up: its grace begins when that is over. */
const heardOfCleaning = (draft: Draft, call: CallRef): void => {
  const row = known(draft, call);
  const isWaiting = row.phase === "running" && row.cancelled?.due === undefined && row.cancelled?.cleans === false;
  if (isWaiting) draft.putCall(cleaned(draft, row, row.cancelled), row);
};

/** The first ask, in an attempt, for what an earlier one settled: the answer takes its place in the log from here. */
const onReused = (draft: Draft, event: EventOf<"effect.reused">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
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
  };
  draft.putCall(withBody(row, { ...body, resumes: 0, settled: body.settled.set(event.key, reused) }), row);
  answer(draft, row, event.key, reused);
  return undefined;
};

/** An end that is meant for an effect whose key another has by now is nobody's. */
const onEnd = (draft: Draft, { call, key, status, value, requested }: Of<"effect.end">): void => {
  const row = draft.call(call);
  if (row === undefined) return;
  const open = bodyOf(row)?.open.find((effect) => effect.key === key);
  if (requested === undefined || open?.seq === requested) endEffect(draft, call, key, { status, value });
};

/** The earliest of a body's sleeps and waits is over. */
const onExpire = (draft: Draft, { call }: Of<"effects.expire">): void => {
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
const onLeft = (draft: Draft, { call, effects }: Of<"call.left">): void => {
  leaveWaits(draft, call, effects);
  const own = effects.filter(({ kind }) => kind === "batch").map(({ key }) => effectBatch(call, key));
  const batches = withNested(draft, own).filter((ref) => draft.batch(ref) !== undefined);
  for (const batch of batches) {
    for (const child of draft.batch(batch)?.calls ?? [])
      leaveWaits(draft, child, bodyOf(known(draft, child))?.open ?? []);
  }
  if (batches.length > 0) draft.raise({ type: "calls.drop", batches });
};

export const onEffectSignal = (draft: Draft, signal: Of<"effect.end" | "effects.expire" | "call.left">): void => {
  switch (signal.type) {
    case "effect.end":
      return onEnd(draft, signal);
    case "effects.expire":
      return onExpire(draft, signal);
    case "call.left":
      return onLeft(draft, signal);
    default:
      return absurd(signal);
  }
};

type SeldomEvent = Exclude<EffectEvent, EventOf<"effect.requested" | "step.settled">>;

export const onSeldomEffectEvent = (draft: Draft, event: SeldomEvent): Rejection | undefined => {
  switch (event.type) {
    case "host.answered":
      return onHostAnswered(draft, event);
    case "replies.recorded":
      return onReplies(draft, event);
    case "effect.reused":
      return onReused(draft, event);
    default:
      return absurd(event);
  }
};
