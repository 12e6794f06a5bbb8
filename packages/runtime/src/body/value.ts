/** What an effect's record says: the value is read from the event that holds it. */
import type { Event, State } from "@pawl/sansio-core";
import {
  type EffectResult,
  type EffectStatus,
  type ProcessRow,
  ReplyCodec,
  type SettledEffect,
  resolutionIn,
  resultAmong,
} from "@pawl/sansio-core/driver";
import type { Json, Resolution } from "@pawl/tool-value";

const failed = (code: string, message: string): EffectResult => ({ status: "err", error: { code, message } });
const done = (value: Json): EffectResult => ({ status: "ok", value });

const timedOut = failed("durable_effect_event_timeout", "durable effect external event wait timed out");
const cancelled = failed("durable_effect_event_cancelled", "durable effect external event wait was cancelled");
const revoked = failed("await_event_unknown_or_revoked", "await-event key is invalid or revoked");

/** What a body that waited gets of a resolution. */
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
/** The key of the effect that waits under a wait's key. */
export const awaitEffectKey = (wait: string): string => awaitPrefix + wait;
/** The wait's key in the key of its effect. */
const waitOfKey = (key: string): string => key.slice(awaitPrefix.length);

/** How a wait ended in this event. Any event can be the one in which its time was over, even one that resolves it. */
const resultOfWait = (event: Event, key: string, status: EffectStatus): EffectResult => {
  const resolution = resolutionIn(event, waitOfKey(key));
  if (resolution !== undefined && (status === "err") === (resolution.status !== "ok"))
    return resultOfResolution(resolution);
  if (event.type === "wait.cancelled" && event.key === key) return cancelled;
  if (event.type === "wait.revoked" && event.keys.includes(waitOfKey(key))) return revoked;
  if (event.type === "session.deleted" || (event.type === "effect.requested" && event.key === key)) return revoked;
  return timedOut;
};

/** The value of an effect, in the event that holds it; that of a process's event hangs on the process's log as well. */
export const resultIn = (event: Event, key: string, effect: SettledEffect, process?: ProcessRow): EffectResult => {
  if (event.type === "effect.requested" && event.key === key && event.refused !== undefined)
    return { status: "err", error: event.refused };
  const { kind, status } = effect;
  if (kind === "wait") return resultOfWait(event, key, status);
  if (kind === "message" || kind === "event") return resultAmong(event, process) ?? done(null);
  if (event.type === "replies.recorded") return done(event.replies.map(ReplyCodec.encode) as Json);
  const isAnswer = (event.type === "step.settled" || event.type === "host.answered") && event.key === key;
  return isAnswer ? event.result : done(null);
};

/** The value stands in an event before: a wait's in its row. */
export const resolvedIn = ({ waits }: State, key: string, effect: SettledEffect): EffectResult => {
  const wait = waits.at(waitOfKey(key));
  return wait?.terminal === undefined
    ? resultIn({ type: "clock.ticked" }, key, effect)
    : resultOfResolution(wait.terminal.resolution);
};
