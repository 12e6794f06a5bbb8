/** Reads the results of effects from the events that hold them. */
import type { Event, State } from "@pawl/sansio-core";
import {
  type EffectResult,
  type EffectStatus,
  type ProcessRow,
  type Refusal,
  type SettledEffect,
  ReplyCodec,
  resolutionIn,
  resultAmong,
} from "@pawl/sansio-core/driver";
import type { Json, Resolution } from "@pawl/tool-value";

const failed = (code: string, message: string): EffectResult => ({ status: "err", error: { code, message } });
const done = (value: Json): EffectResult => ({ status: "ok", value });

const timedOut = failed("durable_effect_event_timeout", "durable effect external event wait timed out");
const cancelled = failed("durable_effect_event_cancelled", "durable effect external event wait was cancelled");
const revoked = failed("await_event_unknown_or_revoked", "await-event key is invalid or revoked");

const resultOfResolution = (resolution: Resolution): EffectResult => {
  switch (resolution.status) {
    case "ok":
      return done(resolution.payload);
    case "err":
      return failed(resolution.payload.code, resolution.payload.message);
    case "timeout":
      return timedOut;
    case "cancelled":
      return cancelled;
  }
};

const awaitPrefix = "await-event:";

/** Returns the key of the effect that waits under a wait's key. */
export const awaitEffectKey = (wait: string): string => awaitPrefix + wait;
const waitOfKey = (key: string): string => key.slice(awaitPrefix.length);

/** Reads from an event how a wait ended. Its time can be over in any event, even in one that resolves it. */
const resultOfWait = (event: Event, key: string, status: EffectStatus): EffectResult => {
  const resolution = resolutionIn(event, waitOfKey(key));
  if (resolution !== undefined && (status === "err") === (resolution.status !== "ok"))
    return resultOfResolution(resolution);
  if (event.type === "wait.cancelled" && event.key === key) return cancelled;
  if (event.type === "wait.revoked" && event.keys.includes(waitOfKey(key))) return revoked;
  if (event.type === "session.deleted" || (event.type === "effect.requested" && event.key === key)) return revoked;
  return timedOut;
};

/** Reads a person's decision; any other event is the one with which its time was over. */
const resultOfApproval = (event: Event): EffectResult => {
  if (event.type !== "approval.decided") return done({ approved: false, reason: "nobody decided in time" });
  const { decision, by } = event;
  if (decision.type === "reject") return done({ approved: false, reason: decision.reason, by });
  return done(decision.type === "approve" ? { approved: true, by } : { approved: true, args: decision.args, by });
};

/** Reads the value of an effect from the event that holds it; that of a process's event needs the process's row too. */
export const resultIn = (
  event: Event,
  key: string,
  effect: SettledEffect,
  process?: ProcessRow,
  refused?: Refusal,
): EffectResult => {
  if (event.type === "effect.requested" && event.key === key && event.refused !== undefined)
    return { status: "err", error: event.refused };
  const { kind, status } = effect;
  if (kind === "wait") return resultOfWait(event, key, status);
  if (kind === "approval") return resultOfApproval(event);
  if (kind === "message" || kind === "event") return resultAmong(event, process, refused) ?? done(null);
  if (event.type === "replies.recorded") return done(event.replies.map(ReplyCodec.encode) as Json);
  const isAnswer = (event.type === "step.settled" || event.type === "host.answered") && event.key === key;
  return isAnswer ? event.result : done(null);
};

/** Reads a value that an earlier event holds: that of a wait stands in the wait's row. */
export const resolvedIn = ({ waits }: State, key: string, effect: SettledEffect): EffectResult => {
  const wait = waits.at(waitOfKey(key));
  return wait?.terminal === undefined
    ? resultIn({ type: "clock.ticked" }, key, effect)
    : resultOfResolution(wait.terminal.resolution);
};
