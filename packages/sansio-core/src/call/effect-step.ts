/** What bodies ask for, and what comes of it. */
import { type CallIn, runningRow } from "./model.ts";
import { cleaned } from "./stop.ts";
import { inPhase, isRejection, known, misfitOfRun, putCall } from "./place.ts";
import { deadlineIn } from "../kernel/deadline.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf } from "../kernel/event.ts";
import { type CallRef, effectBatch } from "../kernel/ids.ts";
import { misfitOfLink } from "../link/room.ts";
import { firstDifference } from "../request/difference.ts";
import { repliesOf } from "../request/replies.ts";
import { isForgotten } from "./ask.ts";
import { type Requested, conflictOfSpec, isOpen } from "./conflict.ts";
import type { EffectKind, OpenEffect, SettledEffect } from "./effect-model.ts";
import { perform } from "./perform.ts";
import { decideSelect } from "./select.ts";
import { type Bodied, answer, settleAll, withBody } from "./settle.ts";
import { endEffect } from "./wake.ts";

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

/** `before`: what an earlier attempt settled under the key, and is forgotten. */
const withOpen = (row: CallIn<"running">, effect: OpenEffect, before: SettledEffect | undefined): CallIn<"running"> => {
  const { body } = row;
  const settled = before === undefined ? body.settled : body.settled.delete(effect.key);
  return runningRow(row, { ...body, resumes: 0, open: [...body.open, effect], settled }, row);
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
const onAsked = (draft: Draft, row: CallIn<"running">, event: Requested): Rejection | undefined => {
  const refusal = conflictOfSpec(draft, row, event) ?? misfitOfScope(draft, event);
  if (refusal !== undefined) return refusal;
  const effect = opened(draft, event);
  const next = withOpen(row, effect, row.body.settled.get(event.key));
  putCall(draft, decideAtOnce(draft, next, effect), row);
  perform(draft, row, event);
  return undefined;
};

/** A request that can not be carried out is on record, and its own answer. */
const refuse = (draft: Draft, row: Bodied, { key, hash, effect, attempt, run }: Requested): Bodied => {
  const open: OpenEffect = { key, kind: effect.kind, hash, seq: draft.seq, attempt, run };
  const { body } = row;
  const asked = withBody(row, { ...body, open: [...body.open, open], settled: body.settled.delete(key) });
  return settleAll(draft, asked, open, { status: "err", value: draft.seq });
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

export const onEffectRequested = (draft: Draft, event: Requested): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const { body } = row;
  const { key, hash, effect, attempt, run } = event;
  const before = body.settled.get(key);
  const misfit = misfitOfRun(row, event) ?? conflictOfKey(row, event, before);
  if (misfit !== undefined) return misfit;
  if (event.refused !== undefined) {
    putCall(draft, refuse(draft, row, event), row);
    return undefined;
  }
  if (effect.kind !== "step") return onAsked(draft, row, event);
  const { recovery } = effect;
  const open = { key, kind: "step", hash, seq: draft.seq, attempt, run, recovery } as const;
  putCall(draft, withOpen(row, open, before), row);
  draft.emit({ type: "step.run", call: row.call.ref, attempt, run, key, recovery });
  return undefined;
};

/** The open effect that an answer from outside is for. */
const openEffect = (row: Bodied, key: string, ...kinds: readonly EffectKind[]): OpenEffect | Rejection => {
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

export const onStepSettled = (draft: Draft, event: EventOf<"step.settled">): Rejection | undefined => {
  const row = inPhase(draft, event.call, "running");
  if (isRejection(row)) return row;
  const misfit = misfitOfRun(row, event);
  if (misfit !== undefined) return misfit;
  const effect = openEffect(row, event.key, "step");
  if ("type" in effect) return effect;
  putCall(draft, settleAll(draft, row, effect, { status: event.result.status, value: draft.seq }), row);
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

export const onHostAnswered = (draft: Draft, event: EventOf<"host.answered">): Rejection | undefined => {
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
  if (isWaiting) putCall(draft, cleaned(draft, row, row.cancelled), row);
};

/** The first ask, in an attempt, for what an earlier one settled: the answer takes its place in the log from here. */
export const onEffectReused = (draft: Draft, event: EventOf<"effect.reused">): Rejection | undefined => {
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
  putCall(draft, withBody(row, { ...body, resumes: 0, settled: body.settled.set(event.key, reused) }), row);
  answer(draft, row, event.key, reused);
  return undefined;
};
