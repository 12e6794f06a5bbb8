/** What a body's requests to a process came to, from the log and the state. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { EffectResult, EffectSpec } from "../effect/model.ts";
import { processOfScope } from "../key/process.ts";
import type { Outcome } from "../link/message.ts";
import { appendEvent } from "./append.ts";
import { notVisible } from "./handle.ts";
import type { ProcessRow } from "./model.ts";

const err = (code: string, message: string): EffectResult => ({ status: "err", error: { code, message } });
const appendFailed = "durable_effect_process_event_append_failed";
const ok = (value: Json): EffectResult => ({ status: "ok", value });

/** The result of a message, from its answer. */
export const resultOfOutcome = (outcome: Outcome): EffectResult =>
  outcome.status === "accepted" ? ok(outcome.value) : err(outcome.code, outcome.message);

/** The result of a message that went nowhere, because its sender had no handle. */
export const resultOfUnsent = ({ to }: Extract<EffectSpec, { readonly kind: "message" }>): EffectResult =>
  err("handle_refused", notVisible(processOfScope(to)));

/**
 * The result of a body's event: where it stands, or why it does not. An event that was taken is known by its key for
 * ever, and what its process refuses once it refuses for ever; one that fits and is not known had no room. So it may be asked at any time after its request.
 */
export const resultOfEvent = (
  row: ProcessRow | undefined,
  effect: Extract<EffectSpec, { readonly kind: "event" }>,
): EffectResult => {
  const { event_type, payload, replay_key, payload_hash: payloadHash, invalid } = effect;
  const processId = row?.registration.id ?? "";
  const request = { event_type, payload, replay: { key: replay_key } };
  const said = invalid === undefined ? {} : { invalid };
  const found = appendEvent(row, { processId, request, payloadHash, at: row?.updatedAt ?? 0, ...said });
  if (E.isLeft(found)) return err(appendFailed, found.left.message);
  if (!found.right.isReplay)
    return err(appendFailed, "there is no room: too many signals are not awaited, or too many wakes not answered");
  return ok({ process_id: processId, sequence: found.right.event.sequence });
};
