/** Why a process event can not be emitted where a context stands. */
import { EffectError } from "../error.ts";
import { type Capabilities, isBlank, problemOfCall } from "./capabilities.ts";

/** Why a process event can not be emitted here; the process comes before the type, and the type before the call. */
export const problemOfProcessEvent = (standing: Capabilities, eventType: string): EffectError | undefined => {
  if (standing.process === undefined) {
    const message = "durable effect process events are unavailable outside a durable process";
    return new EffectError("durable_effect_process_event_unavailable", message);
  }
  if (isBlank(eventType)) {
    const message = "durable effect process event type must be non-empty";
    return new EffectError("durable_effect_empty_process_event_type", message);
  }
  return problemOfCall(standing);
};
