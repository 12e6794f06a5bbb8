/** What the open effects of a body wait for. */
import type { BodyState } from "../call/model.ts";
import type { OpenEffect } from "../call/effect-model.ts";
import type { EventType } from "../kernel/event.ts";
import { type CallRef, effectBatch } from "../kernel/ids.ts";
import type { OutgoingEnd } from "../link/model.ts";
import type { State } from "../kernel/state.ts";
import type { EffectReason, EffectWaits } from "./model.ts";

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
    case "step":
      return { kind, recovery: effect.recovery ?? "again" };
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
    case "sleep":
    case "cleanup":
    case "host":
    case "trigger":
    case "event":
      return { kind };
  }
};

/** A body of which nobody runs a run hears of its steps only when it runs again. */
const movedBy = (what: EffectWaits, isRunning: boolean): readonly EventType[] => {
  switch (what.kind) {
    case "step":
      return isRunning ? ["step.settled"] : [];
    case "wait":
      return ["wait.resolved"];
    case "host":
    case "trigger":
      return ["host.answered"];
    case "batch":
      return what.calls.length === 0 ? ["replies.recorded"] : [];
    case "message":
      return ["message.answered"];
    case "sleep":
    case "cleanup":
    case "select":
    case "event":
      return [];
  }
};

/** Each open effect, in the order of the requests. */
export const effectReasons = (
  state: State,
  call: CallRef,
  { open }: BodyState,
  isRunning: boolean,
): readonly EffectReason[] =>
  open.map((effect) => {
    const what = waitsOf(state, call, effect);
    const { key, seq, due } = effect;
    const until = due === undefined ? {} : { until: due.at };
    return { key, what, since: seq, ...until, movedBy: movedBy(what, isRunning) };
  });
