/**
 * Which values may be put aside: those that the core only hands on. What it reads itself stays in the event: texts of
 * flows, outputs that a flow's steps or a process go on with, and what processes and scopes tell each other.
 */
import type { Event, EventType, State } from "@pawl/sansio-core";
import { waiting } from "./not-stored.ts";

const handedOn: ReadonlySet<EventType> = new Set<EventType>([
  ...waiting,
  "request.submitted",
  "approval.decided",
  "effect.requested",
  "wait.resolved",
]);

const told: ReadonlySet<string> = new Set(["message", "event"]);

/** Whether a call is a step of a flow, whose arguments the core makes and whose output it reads. */
export const isStep = (state: State, call: string): boolean => {
  const request = state.calls.at(call)?.call.request;
  return request !== undefined && state.flows.has(request);
};

/** Whether the end of a call is looked into: that of a flow's step, or of a process. */
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
