/** Events are what happened: the only thing that is recorded. */
import type { Event } from "../concerns.ts";

export type { Event };
export type EventType = Event["type"];
export type EventOf<T extends EventType> = Extract<Event, { readonly type: T }>;

/** An event with its place in the log and its time. */
export interface Envelope {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}

/**
 * Names a row that left the state with this event, for the journal's finished index. A wait that its call's end or its own time
 * closed, or that nobody ever resolved, has a mark beside it: the event that ended it does not say how.
 */
export interface Finished {
  readonly kind: "request" | "call" | "wait" | "wait_timed_out" | "wait_left" | "link" | "wake" | "task" | "schedule";
  readonly id: string;
  /** For a wait: the event that resolved it, where that came before the one with which it left. */
  readonly seq?: number;
}
