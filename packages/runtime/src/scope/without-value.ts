/**
 * What is recorded in the place of an event whose value its store does not take. Whoever waits for the event hears of
 * it, the scope goes on, and why the store did not take it is the host's to know.
 */
import type { Event, EventOf, State } from "@pawl/sansio-core";
import { type EffectSpec, bodyOf } from "@pawl/sansio-core/driver";
import { type ToolCallOutput, failureOutput, runtimeFailure } from "@pawl/tool-value";
import { notStored, whyNotStored } from "./not-stored.ts";

/** What a body asks for, without what it hands in. */
const withoutInput = (effect: EffectSpec): EffectSpec => {
  switch (effect.kind) {
    case "step":
    case "host":
    case "trigger":
      return { ...effect, input: null };
    case "batch":
      return { ...effect, calls: effect.calls.map((call) => ({ ...call, args: null })) };
    default:
      return effect;
  }
};

/** Replies can not be other than their calls came to: the call whose body made the batch ends, which has to be at work. */
const endOfCall = (
  { calls }: State,
  { call }: EventOf<"replies.recorded">,
  output: ToolCallOutput,
): Event | undefined => {
  const row = calls.at(call);
  if (row === undefined || bodyOf(row) === undefined) return undefined; // It has ended meanwhile: nobody waits for them.
  if (row.phase !== "running") throw new Error(`replies for call \`${call}\` were not kept: ${whyNotStored}`);
  const { attempt, run } = row.body;
  return { type: "call.settled", call, attempt, run, result: { type: "done", output }, duration_ms: 0 };
};

/** What is recorded instead of an event of so many characters; nothing of what is only shown. */
export const withoutValue = (event: Event, characters: number, state: State): Event | undefined => {
  const error = { code: notStored, message: `a value of ${characters} characters was not kept: ${whyNotStored}` };
  const output = failureOutput(runtimeFailure("resource_limit", notStored, error.message));
  switch (event.type) {
    case "call.settled":
      return { ...event, result: { type: "done", output } };
    case "call.continued": {
      const { call, attempt, run } = event;
      return { type: "call.settled", call, attempt, run, result: { type: "done", output }, duration_ms: 0 };
    }
    case "replies.recorded":
      return endOfCall(state, event, output);
    case "call.prepared":
      return { ...event, preparation: { type: "finished", output } };
    case "outcome.resolved":
      return { ...event, resolved: { type: "verified", output } };
    case "hook.ran":
      return { ...event, outcome: { status: "err", message: error.message } };
    case "result.projected":
      return { ...event, parts: [{ type: "text", text: error.message }] };
    case "effect.requested":
      return { ...event, effect: withoutInput(event.effect), refused: error };
    case "step.settled":
    case "host.answered":
      return { ...event, result: { status: "err", error } };
    default:
      return undefined;
  }
};
