/**
 * Decides which values may be stored apart from the log, and what happens when the store does not take them. Values that
 * the core only hands on may go; what it reads itself stays in the event: texts of flows, outputs that a flow's steps or
 * a process go on with, and what processes and scopes tell each other.
 */
import type { Command, Event, EventType, State } from "@pawl/sansio-core";
import type { EffectKind } from "@pawl/sansio-core/driver";
import { Refused } from "../error.ts";

export const notStored = "value_not_stored";

export const whyNotStored = "its store did not take it, perhaps for want of room";

export const refusedValue = (event: Event["type"]): Refused =>
  new Refused(notStored, `a value of \`${event}\` was not kept, and nothing was recorded: ${whyNotStored}`);

/** These are told by nobody who looks at what becomes of them at once: they may wait until their values are stored. */
export const waiting: readonly Event["type"][] = [
  "hook.ran",
  "call.prepared",
  "call.settled",
  "call.settled_late",
  "call.continued",
  "step.settled",
  "host.answered",
  "replies.recorded",
  "outcome.resolved",
  "result.projected",
];

/** Effects that may be recorded without their input. What goes to processes stays whole. */
const asked: ReadonlySet<EffectKind> = new Set<EffectKind>(["step", "host", "trigger", "batch"]);

export const mayWait = (event: Event): boolean =>
  waiting.includes(event.type) || (event.type === "effect.requested" && asked.has(event.effect.kind));

const handedOn: ReadonlySet<EventType> = new Set<EventType>([
  ...waiting,
  "request.submitted",
  "approval.decided",
  "effect.requested",
  "wait.resolved",
]);

const told: ReadonlySet<string> = new Set(["message", "event"]);

/** Says whether a call is a step of a flow. The core makes its arguments and reads its output. */
export const isStep = (state: State, call: string): boolean => {
  const request = state.calls.at(call)?.call.request;
  return request !== undefined && state.flows.has(request);
};

/**
 * Says whether a command carries the arguments of a flow's step. Until the step is prepared they are the core's own text:
 * nothing in them refers to a large value.
 */
export const isMadeByFlow = (state: State, command: Command): boolean => {
  switch (command.type) {
    case "args.check":
    case "tool.prepare":
      return isStep(state, command.call);
    case "hook.run":
      return command.phase === "before" && isStep(state, command.call);
    default:
      return false;
  }
};

/** Says whether the core reads the end of a call: of a flow's step, or in a process. */
const isRead = (event: Event, state: State): boolean => {
  switch (event.type) {
    case "call.settled":
    case "call.settled_late":
    case "call.prepared":
    case "hook.ran":
    case "outcome.resolved":
    case "call.continued":
      return state.process !== undefined || isStep(state, event.call);
    case "wait.resolved":
      return state.process !== undefined || state.flows.size > 0;
    default:
      return false;
  }
};

export const mayOffload = (event: Event, state: State): boolean => {
  if (!handedOn.has(event.type) || isRead(event, state)) return false;
  return event.type !== "effect.requested" || !told.has(event.effect.kind);
};
