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
