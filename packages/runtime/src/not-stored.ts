/**
 * A value that its store does not take: what is recorded in the place of the event that has it. Whoever waits for the
 * event hears of it, the scope goes on, and why the store did not take it is the host's to know.
 */
import type { EffectSpec, Event } from "@pawl/sansio-core";
import { failureOutput, runtimeFailure } from "@pawl/tool-value";
import { Refused } from "./error.ts";

export const notStored = "value_not_stored";

const why = "its store did not take it, perhaps for want of room";

/** What a caller is told whose words have no room. */
export const refusedValue = (event: Event["type"]): Refused =>
  new Refused(notStored, `a value of \`${event}\` was not kept, and nothing was recorded: ${why}`);

/** What a body asks for, without what it hands in. What goes to processes stays whole. */
const withoutInput = (effect: EffectSpec): EffectSpec | undefined => {
  switch (effect.kind) {
    case "step":
    case "host":
    case "trigger":
      return { ...effect, input: null };
    case "batch":
      return { ...effect, calls: effect.calls.map((call) => ({ ...call, args: null })) };
    default:
      return undefined;
  }
};

/** These are told by nobody who looks at what becomes of them at once: they may wait until their values are stored. */
const waiting: ReadonlySet<Event["type"]> = new Set<Event["type"]>([
  "call.prepared",
  "call.settled",
  "call.settled_late",
  "call.continued",
  "hook.ran",
  "host.answered",
  "outcome.resolved",
  "result.projected",
  "step.settled",
]);
export const mayWait = (event: Event): boolean =>
  waiting.has(event.type) || (event.type === "effect.requested" && withoutInput(event.effect) !== undefined);

/** What is recorded instead of an event of so many characters; nothing of what is only shown. */
export const withoutValue = (event: Event, characters: number): Event | undefined => {
  const error = { code: notStored, message: `a value of ${characters} characters was not kept: ${why}` };
  const output = failureOutput(runtimeFailure("resource_limit", notStored, error.message));
  switch (event.type) {
    case "call.settled":
      return { ...event, result: { type: "done", output } };
    case "call.continued": {
      const { call, attempt, run } = event;
      return { type: "call.settled", call, attempt, run, result: { type: "done", output }, duration_ms: 0 };
    }
    case "call.prepared":
      return { ...event, preparation: { type: "finished", output } };
    case "outcome.resolved":
      return { ...event, resolved: { type: "verified", output } };
    case "hook.ran":
      return { ...event, outcome: { status: "err", message: error.message } };
    case "result.projected":
      return { ...event, parts: [{ type: "text", text: error.message }] };
    case "effect.requested": {
      const effect = withoutInput(event.effect);
      return effect === undefined ? undefined : { ...event, effect, refused: error };
    }
    case "step.settled":
    case "host.answered":
      return { ...event, result: { status: "err", error } };
    default:
      return undefined;
  }
};
