/** Events of the process that a body runs in: `ctx.processEvents`, and `ctx.emitProcessEvent` of durable effects. */
import {
  type ProcessEvent,
  type ProcessEventAppendRequest,
  processEventKey,
  processOfScope,
  signalWaitKey,
} from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import { EffectError } from "../../error.ts";
import { problemOfProcessEvent } from "../process-capabilities.ts";
import { awaitEffectKey } from "../value.ts";
import { type Asking, type Durable, durable, refusing, toJson, valueOf } from "./asking.ts";
import { appendToProcess, eventOfProcessAfter } from "./process-event-asking.ts";

export interface ProcessEventsFacet {
  readonly emit: (eventType: string, payload: unknown) => Durable<ProcessEvent>;
  readonly emitRequest: (request: ProcessEventAppendRequest) => Durable<ProcessEvent>;
  /** The first event of a type that stands after a place in the process's log. */
  readonly waitEventAfter: (eventType: string, afterSequence: number) => Durable<ProcessEvent>;
  /** The next signal of a name: the first call waits for the first, and so on. */
  readonly awaitSignal: (name: string) => Durable<Json>;
}

export interface ProcessEvents {
  readonly processEvents: ProcessEventsFacet;
  /** Appends an event to the process that the body runs in, once per record. */
  readonly emitProcessEvent: (eventType: string, payload: unknown) => Durable<ProcessEvent>;
}

/** What can only be made in a process. */
const unless = <A>(problem: EffectError | undefined, key: string, make: () => Promise<A>): Durable<A> =>
  refusing(key, () => {
    if (problem !== undefined) throw problem;
    return durable(key, make());
  });

export const processEvents = (asking: Asking): ProcessEvents => {
  const { body, facts } = asking;
  const { processApi, capabilities } = facts;
  let emitted = 0;

  const append = (key: string, request: ProcessEventAppendRequest, replayKey: string): Promise<ProcessEvent> =>
    appendToProcess(asking, key, request, replayKey);

  const outside = (what: "emission" | "waiting"): EffectError | undefined =>
    capabilities.process === undefined
      ? new EffectError("process_events_unavailable", `process event ${what} is unavailable outside a durable process`)
      : undefined;

  const emitProcessEvent: ProcessEvents["emitProcessEvent"] = (eventType, payload) => {
    const problem = problemOfProcessEvent(capabilities, eventType);
    if (problem !== undefined) return durable("", Promise.reject<ProcessEvent>(problem));
    const index = emitted++;
    const key = `durable-process-event:${index}`;
    return unless(undefined, key, () => {
      const json = toJson(payload, `the payload of \`${eventType}\``);
      const replayKey = processEventKey(facts.name, body.id.attempt, index);
      return append(key, { event_type: eventType, payload: json }, replayKey);
    });
  };

  const emitRequest: ProcessEventsFacet["emitRequest"] = (request) => {
    const key = asking.nextName("process-event");
    const replayKey = request.replay?.key ?? `tool:${facts.name}:attempt:${body.id.attempt}:${key}`;
    return unless(outside("emission"), key, () =>
      append(
        key,
        { ...request, payload: toJson(request.payload, `the payload of \`${request.event_type}\``) },
        replayKey,
      ),
    );
  };

  const waitEventAfter: ProcessEventsFacet["waitEventAfter"] = (eventType, after) => {
    const key = asking.nextName(`process-event-after:${eventType}:${after}`);
    const find = (): Promise<ProcessEvent> => eventOfProcessAfter(asking, key, eventType, after);
    return unless(outside("waiting"), key, find);
  };

  const ordinals = new Map<string, number>();
  const awaitSignal: ProcessEventsFacet["awaitSignal"] = (name) => {
    const ordinal = (ordinals.get(name) ?? 0) + 1;
    ordinals.set(name, ordinal);
    const wait = signalWaitKey(processOfScope(processApi.state().scope.id), name, ordinal);
    const key = awaitEffectKey(wait);
    return unless(outside("waiting"), key, async () => {
      const { result } = await asking.ask(key, { kind: "wait", wait, signal: { name, ordinal } }, wait);
      return valueOf(result);
    });
  };

  return {
    emitProcessEvent,
    processEvents: {
      emit: (event_type, payload) => emitRequest({ event_type, payload: payload as Json }),
      emitRequest,
      waitEventAfter,
      awaitSignal,
    },
  };
};
