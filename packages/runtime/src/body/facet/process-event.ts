/** Events of the process that a body runs in: `ctx.processEvents`, and `ctx.emitProcessEvent` of durable effects. */
import {
  type EffectResult,
  type EffectSpec,
  type ProcessEventAppendRequest,
  type SignalPlace,
  bodyOf,
  eventPayloadHash,
  ProcessEvent,
  processEventKey,
  processOfScope,
  signalWaitKey,
} from "@pawl/sansio-core/driver";
import { type Json, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { EffectError, failureOf } from "../../error.ts";
import { payloadMismatch } from "../../tool/check.ts";
import { awaitEffectKey } from "../recorded-result.ts";
import { problemOfProcessEvent } from "./capability.ts";
import { type Asking, toJson, valueOf } from "./facet.ts";
import { type Durable, durable, refusing } from "./durable.ts";

export interface ProcessEventsFacet {
  readonly emit: (eventType: string, payload: unknown) => Durable<ProcessEvent>;
  readonly emitRequest: (request: ProcessEventAppendRequest) => Durable<ProcessEvent>;
  /** Resolves to the first event of a type that stands after a place in the process's log. */
  readonly waitEventAfter: (eventType: string, afterSequence: number) => Durable<ProcessEvent>;
  /** Resolves to the next signal of a name: the first call waits for the first, and so on. */
  readonly awaitSignal: (name: string) => Durable<Json>;
}

export interface ProcessEvents {
  readonly processEvents: ProcessEventsFacet;
  /** Appends an event to the process that the body runs in, once per record. */
  readonly emitProcessEvent: (eventType: string, payload: unknown) => Durable<ProcessEvent>;
}

const mismatch = (): EffectError =>
  new EffectError(
    "durable_effect_process_event_process_mismatch",
    "process event append returned an event for a different process",
  );

const eventIn = ({ facts }: Asking, result: EffectResult): ProcessEvent => {
  const event = read(ProcessEvent, valueOf(result));
  if (E.isLeft(event)) throw new EffectError("durable_effect_value", describe(event.left));
  if (event.right.process_id !== processOfScope(facts.processApi.state().scope.id)) throw mismatch();
  return event.right;
};

/** Appends an event to the process's log, under a replay key of its own. */
const append = (
  asking: Asking,
  key: string,
  request: ProcessEventAppendRequest,
  replay_key: string,
): Durable<ProcessEvent> => {
  const { event_type, wake_target_scope } = request;
  const payload = toJson(request.payload, `the payload of \`${event_type}\``);
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
  return asking.askFor((result) => eventIn(asking, result), key, effect, payload_hash);
};

const waitEventAfter = (asking: Asking, key: string, eventType: string, after: number): Durable<ProcessEvent> => {
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
  return asking.askFor((result) => eventIn(asking, result), key, spec, input, perform, { isWait: true });
};

/** Asks for what only a body in a process may ask for. */
const inside = <A>(asking: Asking, what: "emission" | "waiting", key: string, ask: () => Durable<A>): Durable<A> =>
  refusing(key, () => {
    if (asking.facts.capabilities.process !== undefined) return ask();
    throw new EffectError(
      "process_events_unavailable",
      `process event ${what} is unavailable outside a durable process`,
    );
  });

const emitProcessEvent = (asking: Asking): ProcessEvents["emitProcessEvent"] => {
  const { body, facts } = asking;
  let emitted = 0;
  return (event_type, payload) => {
    const problem = problemOfProcessEvent(facts.capabilities, event_type);
    if (problem !== undefined) return durable("", Promise.reject<ProcessEvent>(problem));
    const index = emitted++;
    const key = `durable-process-event:${index}`;
    return refusing(key, () => {
      const replayKey = facts.life.named(processEventKey(facts.name, body.id.attempt, index));
      return append(asking, key, { event_type, payload: payload as Json }, replayKey);
    });
  };
};

const emitRequest = (asking: Asking, request: ProcessEventAppendRequest): Durable<ProcessEvent> => {
  const { body, facts } = asking;
  const key = asking.nextName("process-event");
  const ownKey = facts.life.named(`tool:${facts.name}:attempt:${body.id.attempt}:${key}`);
  const replayKey = request.replay?.key ?? ownKey;
  return inside(asking, "emission", key, () => append(asking, key, request, replayKey));
};

/** Numbers signals over all lives: this one awaits the first that no earlier one was handed. */
const awaitSignal = (asking: Asking): ProcessEventsFacet["awaitSignal"] => {
  const ordinals = new Map(asking.facts.life.signals.map(({ name, ordinal }) => [name, ordinal]));
  return (name) => {
    const ordinal = (ordinals.get(name) ?? 0) + 1;
    ordinals.set(name, ordinal);
    const wait = signalWaitKey(processOfScope(asking.facts.processApi.state().scope.id), name, ordinal);
    const key = awaitEffectKey(wait);
    return inside(asking, "waiting", key, () =>
      asking.askFor(valueOf, key, { kind: "wait", wait, signal: { name, ordinal } }, wait),
    );
  };
};

/** Returns the last signal of each name that this life was handed: in earlier attempts, and so far in this one. */
export const handedSignals = ({ body, facts }: Asking): readonly SignalPlace[] => {
  const { process, calls } = facts.processApi.state();
  const row = calls.at(body.id.call);
  const settled = process === undefined || row === undefined ? undefined : bodyOf(row)?.settled;
  if (process === undefined || settled === undefined) return [];
  const prefix = awaitEffectKey(signalWaitKey(process.registration.id, "", 0)).slice(0, -":0".length);
  const handed = new Map<string, number>();
  for (const [key, { status, attempt }] of settled) {
    if (status !== "ok" || !key.startsWith(prefix) || (attempt === body.id.attempt && !body.hasHeard(key))) continue;
    const [name = "", ordinal] = key.slice(prefix.length).split(":");
    handed.set(name, Math.max(handed.get(name) ?? 0, Number(ordinal)));
  }
  return [...handed].map(([name, ordinal]) => ({ name, ordinal }));
};

export const processEvents = (asking: Asking): ProcessEvents => ({
  emitProcessEvent: emitProcessEvent(asking),
  processEvents: {
    emit: (event_type, payload) => emitRequest(asking, { event_type, payload: payload as Json }),
    emitRequest: (request) => emitRequest(asking, request),
    waitEventAfter: (eventType, after) => {
      const key = asking.nextName(`process-event-after:${eventType}:${after}`);
      return inside(asking, "waiting", key, () => waitEventAfter(asking, key, eventType, after));
    },
    awaitSignal: awaitSignal(asking),
  },
});
