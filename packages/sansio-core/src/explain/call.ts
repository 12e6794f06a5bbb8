/** Explains what a live call waits for, by its phase. */
import { awaitedEffects } from "../call/finish.ts";
import { maxAttempts } from "../call/launch.ts";
import { openStep } from "../call/recovery/owner-lost.ts";
import type { OpenEffect } from "../call/effect/effect.ts";
import type { BodyState, CallIn, CallRow } from "../call/model.ts";
import { bodyOf, occupies } from "../call/row.ts";
import type { CallReason, CallWaits, EffectReason, EffectWaits } from "./model.ts";
import type { Deadline } from "../kernel/deadline.ts";
import { hasRule } from "../kernel/protocol.ts";
import { type CallRef, type EventType, type State, effectBatch } from "../kernel/vocabulary.ts";
import type { OutgoingEnd } from "../link/model.ts";

interface Found {
  readonly what: CallWaits;
  readonly movedBy: readonly EventType[];
  /** A deadline of the call's own; since its birth it waits. */
  readonly due?: Deadline | undefined;
  readonly since?: number;
}

const ofRequested = (state: State, { call, due }: CallIn<"requested">): Found => {
  const batch = state.batches.at(call.batch);
  const behind = batch?.calls[batch.prepared] ?? call.ref;
  return { what: { type: "turn_to_prepare", behind }, movedBy: [], since: call.born, due };
};

const ofPreparing = ({ waits }: CallIn<"preparing">): Found => {
  switch (waits) {
    case "hook":
      return { what: { type: "hook", phase: "before" }, movedBy: ["hook.ran"] };
    case "args":
      return { what: { type: "args_check" }, movedBy: ["args.checked"] };
    case "prepare":
      return { what: { type: "preparation" }, movedBy: ["call.prepared"] };
  }
};

const ofAbsent = ({ waits, manifest, due }: CallIn<"no_tool">): Found => {
  if (due !== undefined)
    return { what: { type: "executor", toolId: manifest.id }, movedBy: ["executors.available"], due };
  return waits === "args"
    ? { what: { type: "args_check" }, movedBy: ["args.checked"] }
    : { what: { type: "preparation" }, movedBy: ["call.prepared"] };
};

const ofApproval = ({ approval, due }: CallIn<"awaiting_approval">): Found => {
  const { edited, argsHash } = approval;
  if (edited === undefined) return { what: { type: "approval", argsHash }, movedBy: ["approval.decided"], due };
  return { what: { type: "args_check", editedBy: edited.by }, movedBy: ["args.checked"], due };
};

const ofReady = (state: State, { call, manifest, due }: CallIn<"ready">): Found => {
  const batch = state.batches.at(call.batch);
  const siblings = (batch?.calls ?? []).filter((ref) => ref !== call.ref);
  const among = (isBehind: (row: CallRow) => boolean): readonly CallRef[] =>
    siblings.filter((ref) => {
      const row = state.calls.at(ref);
      return row !== undefined && isBehind(row);
    });
  const slot = (because: "preparation" | "concurrency" | "serial", behind: readonly CallRef[]): Found => ({
    what: { type: "slot", batch: call.batch, because, behind },
    movedBy: [],
    due,
  });
  if (batch?.phase === "preparing") {
    return slot(
      "preparation",
      among(({ phase }) => phase === "requested" || phase === "preparing"),
    );
  }
  const holders = among(occupies);
  return slot(manifest.scheduling === "serial" ? "serial" : "concurrency", holders);
};

const ofQueue = (queue = ""): Found => ({ what: { type: "queue", queue }, movedBy: ["place.granted"] });

const waitsForEffects = (state: State, call: CallRef): boolean =>
  hasRule(state.scope.protocol, "waits_for_effects") && awaitedEffects(state, call).length > 0;

const ofRunning = (state: State, { call, owner, body, cancelled }: CallIn<"running">): Found => {
  const { attempt, run } = body;
  const effects = effectReasons(state, call.ref, body, true);
  const due = cancelled?.due;
  if (cancelled !== undefined && due === undefined) {
    const movedBy = ["call.cleaned_up", "call.settled"] as const;
    return { what: { type: "clean_up", owner, attempt, run, effects }, since: cancelled.seq, movedBy };
  }
  const type = cancelled === undefined ? "body" : "stop";
  const mayEnd = cancelled !== undefined || !waitsForEffects(state, call.ref);
  return { what: { type, owner, attempt, run, effects }, movedBy: mayEnd ? ["call.settled"] : [], due };
};

const ofResuming = ({ cause, body, due }: CallIn<"resuming">): Found => {
  const { attempt, run, resumes } = body;
  return due === undefined
    ? { what: { type: "resume", cause, attempt, run }, movedBy: ["call.resumed"] }
    : { what: { type: "resume_pause", cause, attempt, run, resumes, ...atStep(body) }, movedBy: [], due };
};

const atStep = (body: BodyState): { readonly step?: string } => {
  const step = openStep(body);
  return step === undefined ? {} : { step };
};

/** Another version of its tool moves a call too that a version could not go on with. */
const ofUnknown = ({ cause, body, due }: CallIn<"unknown">): Found => {
  const loop = cause === "crash_loop" ? { crashes: body.resumes, ...atStep(body) } : {};
  const failed = body.failed.map(({ version }) => version).filter((version) => version !== "");
  const what = { type: "resolver", cause, ...loop, ...(failed.length === 0 ? {} : { failed }) } as const;
  return {
    what,
    movedBy: body.failed.length === 0 ? ["outcome.resolved"] : ["outcome.resolved", "catalog.published"],
    due,
  };
};

const ofSuspended = (state: State, { call, body, link }: CallIn<"suspended">): Found => {
  const effects = effectReasons(state, call.ref, body, false);
  if (link === undefined) return { what: { type: "suspended", effects }, movedBy: [] };
  const room = { what: { type: "suspended", effects, link: link.to }, since: link.since } as const;
  return { ...room, movedBy: ["message.answered"] };
};

const ofFinishing = ({ waits }: CallIn<"finishing">): Found =>
  waits === "hook"
    ? { what: { type: "hook", phase: "after" }, movedBy: ["hook.ran"] }
    : { what: { type: "projection" }, movedBy: ["result.projected"] };

const ofCompleted = (state: State, { call }: CallIn<"completed">): Found => {
  const calls = unfinishedIn(state, call.batch);
  return {
    what: { type: "batch", batch: call.batch, calls },
    movedBy: calls.length === 0 ? ["replies.recorded"] : [],
  };
};

const found = (state: State, row: CallRow): Found => {
  switch (row.phase) {
    case "requested":
      return ofRequested(state, row);
    case "preparing":
      return ofPreparing(row);
    case "awaiting_approval":
      return ofApproval(row);
    case "ready":
      return ofReady(state, row);
    case "running":
      return ofRunning(state, row);
    case "resuming":
      return ofResuming(row);
    case "suspended":
      return ofSuspended(state, row);
    case "no_tool":
      return ofAbsent(row);
    case "no_executor":
      return {
        what: { type: "executor", toolId: row.body.manifest.id },
        movedBy: ["executors.available"],
        due: row.due,
      };
    case "queued":
      return ofQueue(row.manifest.queue);
    case "backing_off": {
      if (row.due === undefined) return ofQueue(row.body.manifest.queue);
      const { attempt, manifest } = row.body;
      const of = maxAttempts(manifest.retry_policy);
      return { what: { type: "retry", attempt: attempt + 1, of }, movedBy: [], due: row.due };
    }
    case "unknown":
      return ofUnknown(row);
    case "pending":
      return { what: { type: "completion", key: row.key }, movedBy: ["wait.resolved"], due: row.due };
    case "finishing":
      return ofFinishing(row);
    case "completed":
      return ofCompleted(state, row);
  }
};

/** Why a call stands where it stands. */
export const callReason = (state: State, row: CallRow): CallReason => {
  const { what, movedBy, due, since = due?.birth } = found(state, row);
  const life = bodyOf(row)?.life.number ?? 1;
  return {
    call: row.call.ref,
    tool: row.tool,
    phase: row.phase,
    ...(life === 1 ? {} : { life }),
    what,
    ...(since === undefined ? {} : { since }),
    ...(due === undefined ? {} : { until: due.at }),
    movedBy,
  };
};

// Open effects of a body.

/** The calls of a batch that are not through yet. */
export const unfinishedIn = (state: State, batch: string): readonly CallRef[] =>
  (state.batches.at(batch)?.calls ?? []).filter((ref) => state.calls.at(ref)?.phase !== "completed");

const isOf =
  (call: CallRef, { key, seq }: OpenEffect) =>
  ({ origin }: { readonly origin?: { readonly call: CallRef; readonly key: string; readonly requested: number } }) =>
    origin?.call === call && origin.key === key && origin.requested === seq;

/** The message that an effect sent, on whatever link it goes. */
const messageOf = (state: State, call: CallRef, effect: OpenEffect): EffectWaits | undefined => {
  const isSent = isOf(call, effect);
  const sentOn = ({ link, unanswered }: OutgoingEnd) => {
    const sent = unanswered.values().find((message) => isSent(message));
    return sent === undefined ? undefined : { link, number: sent.number };
  };
  for (const [to, { outgoing }] of state.links) {
    if (outgoing === undefined) continue;
    const sent = sentOn(outgoing);
    if (sent !== undefined) return { kind: "message", to, sent };
    if (outgoing.waiting.some(isSent)) return { kind: "message", to };
  }
  return undefined;
};

const waitsOf = (state: State, call: CallRef, effect: OpenEffect): EffectWaits => {
  const { kind, key } = effect;
  switch (kind) {
    case "step": {
      const step = { kind, recovery: effect.recovery ?? "again" } as const;
      return effect.try === undefined ? step : { ...step, try: effect.try };
    }
    case "wait":
      return { kind, wait: effect.wait ?? "" };
    case "select":
      return { kind, mode: effect.select?.mode ?? "race", keys: effect.select?.keys ?? [] };
    case "batch": {
      const batch = effectBatch(call, key);
      return { kind, batch, calls: unfinishedIn(state, batch) };
    }
    case "message":
      return messageOf(state, call, effect) ?? { kind, to: "" };
    case "host":
    case "trigger":
      return { kind, hash: effect.hash, ...(effect.waiting === undefined ? {} : { asksPerson: true }) };
    case "approval":
      return { kind, title: effect.approval?.title ?? "", argsHash: effect.approval?.args_hash ?? "" };
    case "sleep":
    case "cleanup":
    case "event":
      return { kind };
  }
};

/** A body of which nobody runs a run hears of its steps only when it runs again. */
const movedBy = (what: EffectWaits, isRunning: boolean, isDue: boolean): readonly EventType[] => {
  switch (what.kind) {
    case "step":
      return isRunning && !isDue ? ["step.settled"] : [];
    case "wait":
      return ["wait.resolved"];
    case "host":
    case "trigger":
      return ["host.answered"];
    case "batch":
      return what.calls.length === 0 ? ["replies.recorded"] : [];
    case "message":
      return ["message.answered"];
    case "approval":
      return ["approval.decided"];
    case "sleep":
    case "cleanup":
    case "select":
    case "event":
      return [];
  }
};

/** Each open effect, in the order of the requests. */
const effectReasons = (state: State, call: CallRef, { open }: BodyState, isRunning: boolean): readonly EffectReason[] =>
  open.map((effect) => {
    const what = waitsOf(state, call, effect);
    const { key, seq, due } = effect;
    const until = due === undefined ? {} : { until: due.at };
    return { key, what, since: seq, ...until, movedBy: movedBy(what, isRunning, due !== undefined) };
  });
