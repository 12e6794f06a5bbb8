/** What a body does with the log of its own process, asked for under the keys that `ctx.processEvents` gives. */
import {
  type EffectResult,
  type EffectSpec,
  ProcessEvent,
  type ProcessEventAppendRequest,
  eventPayloadHash,
  processOfScope,
} from "@pawl/sansio-core/driver";
import { type Json, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, failureOf } from "../../error.ts";
import { payloadMismatch } from "../../tool/payload-schema.ts";
import { type Asking, toJson, valueOf } from "./asking.ts";

const mismatch = (): EffectError =>
  new EffectError(
    "durable_effect_process_event_process_mismatch",
    "process event append returned an event for a different process",
  );

const eventOf = ({ facts }: Asking, json: Json): ProcessEvent => {
  const event = read(ProcessEvent, json);
  if (E.isLeft(event)) throw new EffectError("durable_effect_value", describe(event.left));
  if (event.right.process_id !== processOfScope(facts.processApi.state().scope.id)) throw mismatch();
  return event.right;
};

/** Appends an event, under a replay key of its own. */
export const appendToProcess = async (
  asking: Asking,
  key: string,
  request: ProcessEventAppendRequest,
  replay_key: string,
): Promise<ProcessEvent> => {
  const { event_type, payload, wake_target_scope } = request;
  const payload_hash = eventPayloadHash(event_type, payload).hash;
  const invalid = payloadMismatch(asking.facts.processApi.state().process, event_type, payload);
  const effect: EffectSpec = {
    kind: "event",
    event_type,
    payload,
    replay_key,
    payload_hash,
    ...(invalid === undefined ? {} : { invalid }),
    ...(wake_target_scope === undefined ? {} : { wake_target_scope }),
  };
  const { result } = await asking.ask(key, effect, payload_hash);
  return eventOf(asking, valueOf(result));
};

/** The first event of a type that stands after a place in the process's log. */
export const eventOfProcessAfter = async (
  asking: Asking,
  key: string,
  eventType: string,
  after: number,
): Promise<ProcessEvent> => {
  const { body, facts } = asking;
  const perform = async (): Promise<EffectResult> => {
    try {
      const event = await facts.processApi.eventAfter(eventType, after, body.signals.work);
      return { status: "ok", value: ProcessEvent.encode(event) as Json };
    } catch (thrown) {
      return failureOf(thrown, "process_event_wait_failed", EffectError);
    }
  };
  const input = toJson(after, key);
  const spec: EffectSpec = { kind: "step", recovery: "again", input };
  return eventOf(asking, valueOf((await asking.ask(key, spec, input, perform)).result));
};
