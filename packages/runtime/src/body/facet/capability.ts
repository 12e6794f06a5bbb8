/** Says which effects a context has where it was made, and refuses the rest in the words of the wire. */
import { EffectError } from "../../error.ts";

/** Says what a context can do, which depends on where it was made. */
export interface Capabilities {
  /** Present in a prepared call only. */
  readonly callId: string | undefined;
  /** True if the host that made it keeps a log. */
  readonly isDurable: boolean;
  /** The process in whose scope it runs, if it does. */
  readonly process: string | undefined;
}

const isBlank = (text: string): boolean => text.trim() === "";

const problemOfCall = ({ callId }: Capabilities): EffectError | undefined => {
  const code = "durable_effects_missing_call_id";
  if (callId === undefined) return new EffectError(code, "durable effects require a prepared tool call id");
  if (isBlank(callId)) return new EffectError(code, "durable effects require a non-empty prepared tool call id");
  return undefined;
};

/** Returns why durable effects cannot be opened here. */
export const problemOfDurable = (capabilities: Capabilities): EffectError | undefined => {
  const problem = problemOfCall(capabilities);
  if (problem !== undefined || capabilities.isDurable) return problem;
  return new EffectError("durable_effects_unavailable", "this effect controller does not support durable tool effects");
};

/** Returns why there is no completion key here. */
export const problemOfCompletion = ({ callId }: Capabilities): EffectError | undefined =>
  callId === undefined
    ? new EffectError("tool_completion_key_missing_call_id", "completion keys require a prepared tool call id")
    : undefined;

/** Returns why a process event cannot be emitted here. A missing process is reported before a bad type or call. */
export const problemOfProcessEvent = (capabilities: Capabilities, eventType: string): EffectError | undefined => {
  if (capabilities.process === undefined) {
    const message = "durable effect process events are unavailable outside a durable process";
    return new EffectError("durable_effect_process_event_unavailable", message);
  }
  if (isBlank(eventType)) {
    const message = "durable effect process event type must be non-empty";
    return new EffectError("durable_effect_empty_process_event_type", message);
  }
  return problemOfCall(capabilities);
};
