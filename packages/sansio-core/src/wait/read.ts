/** What a driver tells of a wait to whoever asks. */
import type { Json, Resolution } from "@pawl/tool-value";
import type { Event } from "../kernel/event.ts";
import type { Said } from "../message/message.ts";
import { signalEventType } from "../identity/process.ts";
import type { State } from "../kernel/state.ts";

/** How a key was resolved, while the state knows; after that the finished index does. */
export const resolutionOf = (state: State, key: string): Resolution | undefined =>
  state.waits.at(key)?.terminal?.resolution;

/** An event of a process, where it is the signal that a key waits for. */
const ofSignal = (eventType: string, payload: Json, key: string): Resolution | undefined =>
  key.slice(0, key.lastIndexOf(":")).endsWith(`:${eventType}`) ? { status: "ok", payload } : undefined;

const ofMessage = (message: Said, key: string): Resolution | undefined => {
  switch (message.type) {
    case "process.ended":
      return message.waits.includes(key) ? { status: "ok", payload: message.output ?? null } : undefined;
    case "process.signal":
      return ofSignal(signalEventType(message.name), message.payload, key);
    case "process.append":
      return ofSignal(message.request.event_type, message.request.payload, key);
    default:
      return undefined;
  }
};

/**
 * The resolution of a key in the event that is recorded as its value. Of a wait that settled as an error it says
 * nothing: its time may have passed with the very event that resolves its key.
 */
export const resolutionIn = (event: Event, key: string): Resolution | undefined => {
  switch (event.type) {
    case "wait.resolved":
      return event.key === key ? event.resolution : undefined;
    case "message.received":
      return event.message.type === "link.closed" ? undefined : ofMessage(event.message, key);
    case "process.event_appended":
      return ofSignal(event.request.event_type, event.request.payload, key);
    case "effect.requested":
      return event.effect.kind === "event" ? ofSignal(event.effect.event_type, event.effect.payload, key) : undefined;
    default:
      return undefined;
  }
};
