/** Results of a body's requests to a process, from the log and the state. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { EffectResult, EffectSpec } from "../call/effect/effect.ts";
import type { Life } from "../call/life.ts";
import { processOfScope } from "../identity/scope.ts";
import { hasRule } from "../kernel/protocol.ts";
import type { Event } from "../kernel/vocabulary.ts";
import { notVisible, ProcessEvent } from "../message/process.ts";
import type { Outcome } from "../message/message.ts";
import { appendEvent, eventIdentityOf, eventOf, materialize } from "./append.ts";
import type { ProcessEventAppendRequest, ProcessRow } from "./model.ts";

type EventEffect = Extract<EffectSpec, { readonly kind: "event" }>;

const err = (code: string, message: string): EffectResult => ({ status: "err", error: { code, message } });
const appendFailed = "durable_effect_process_event_append_failed";

/** Words why a process does not take an event of its body. */
export type Refusal = (why: string) => EffectResult;

/** As lives have it that began under protocol 1: their programs may have put the message into what they asked for. */
const plainly: Refusal = (why) => err(appendFailed, why);
const ofSession: Refusal = (why) => err(appendFailed, `plugin session error: ${why}`);

/** Returns how a life words it. */
export const refusalIn = (protocol: number, life: Life | undefined): Refusal =>
  hasRule(protocol, "event_refusal_prefix") && life?.upgradedIn === undefined ? ofSession : plainly;

const ok = (value: Json): EffectResult => ({ status: "ok", value });

/** The result of a message, from its answer. */
export const resultOfOutcome = (outcome: Outcome): EffectResult =>
  outcome.status === "accepted" ? ok(outcome.value) : err(outcome.code, outcome.message);

/** The result of a message that went nowhere, because its sender had no handle. */
export const resultOfUnsent = ({ to }: Extract<EffectSpec, { readonly kind: "message" }>): EffectResult =>
  err("handle_refused", notVisible(processOfScope(to)));

/** Turns a body's event into a request to append to its process's log. */
export const requestOfEffect = (effect: EventEffect): ProcessEventAppendRequest => {
  const { event_type, payload, replay_key, wake_target_scope } = effect;
  const request = { event_type, payload, replay: { key: replay_key } };
  return wake_target_scope === undefined ? request : { ...request, wake_target_scope };
};

/**
 * The result of a body's event: the event as it stands in the log, or why it does not. An event that was taken is known by its key for
 * ever, and what its process refuses once it refuses for ever; one that fits and is not known had no room. So it may be asked at any time after its request.
 */
export const resultOfEvent = (
  row: ProcessRow | undefined,
  effect: EventEffect,
  refused: Refusal = plainly,
): EffectResult => {
  const { payload_hash: payloadHash, invalid } = effect;
  const processId = row?.registration.id ?? "";
  const request = requestOfEffect(effect);
  const said = invalid === undefined ? {} : { invalid };
  const found = appendEvent(row, { processId, request, payloadHash, at: row?.updatedAt ?? 0, ...said });
  if (E.isLeft(found)) return refused(found.left.message);
  if (!found.right.isReplay)
    return refused("there is no room: too many signals are not awaited, or too many wakes not answered");
  return ok(ProcessEvent.encode(found.right.event) as Json);
};

/** An event as it stands in a process's log, from what observers were told of it. */
export const observedEvent = (
  row: ProcessRow,
  {
    sequence,
    event_type,
    payload,
    at,
  }: Pick<ProcessEvent, "sequence" | "event_type" | "payload"> & { readonly at: number },
): ProcessEvent => {
  const { id, event_types } = row.registration;
  const type = event_types.find(({ name }) => name === event_type);
  const semantics = materialize(type?.semantics ?? {}, payload, eventIdentityOf(id, sequence));
  const key = [...row.replays].find(([, { seq }]) => seq === sequence)?.[0];
  const request = { event_type, payload, ...(key === undefined ? {} : { replay: { key } }) };
  return eventOf(
    { processId: id, request, payloadHash: "", at },
    { seq: sequence, at },
    E.getOrElse(() => ({}))(semantics),
  );
};

/**
 * Returns the result of a request to a process, from the event that answers it; undefined for an event that answers
 * none.
 */
export const resultAmong = (
  event: Event,
  process: ProcessRow | undefined,
  refused?: Refusal,
): EffectResult | undefined => {
  if (event.type === "message.answered") return resultOfOutcome(event.outcome);
  if (event.type !== "effect.requested") return undefined;
  const { effect } = event;
  if (effect.kind === "message") return resultOfUnsent(effect);
  return effect.kind === "event" ? resultOfEvent(process, effect, refused) : undefined;
};
