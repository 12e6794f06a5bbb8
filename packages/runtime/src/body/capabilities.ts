/** What a context can do depends on where it was made: why something is not to be had, in the words of the wire. */
import { EffectError } from "../error.ts";

/** Where a context stands. */
export interface Capabilities {
  /** Of a prepared call; none outside of one. */
  readonly callId: string | undefined;
  /** Whether the host that made it keeps a log. */
  readonly isDurable: boolean;
  /** The process in whose scope it runs, if it does. */
  readonly process: string | undefined;
}

export const isBlank = (text: string): boolean => text.trim() === "";

/** Why there is no call here whose durable effects they could be. */
export const problemOfCall = ({ callId }: Capabilities): EffectError | undefined => {
  const code = "durable_effects_missing_call_id";
  if (callId === undefined) return new EffectError(code, "durable effects require a prepared tool call id");
  if (isBlank(callId)) return new EffectError(code, "durable effects require a non-empty prepared tool call id");
  return undefined;
};

/** Why durable effects can not be opened here. */
export const problemOfDurable = (standing: Capabilities): EffectError | undefined => {
  const problem = problemOfCall(standing);
  if (problem !== undefined || standing.isDurable) return problem;
  return new EffectError("durable_effects_unavailable", "this effect controller does not support durable tool effects");
};

/** Why there is no completion key here. */
export const problemOfCompletion = ({ callId }: Capabilities): EffectError | undefined =>
  callId === undefined
    ? new EffectError("tool_completion_key_missing_call_id", "completion keys require a prepared tool call id")
    : undefined;
