/**
 * A wait: a one-shot durable promise with a key.
 *
 *   (nothing) ─▶ unclaimed ─▶ resolved        a resolution that came before anyone waited
 *       └──────▶ awaited ───▶ resolved        resolved once; everyone gets the same
 *                   └───────▶ revoked         nobody may resolve it any more; who waited gets an error
 *
 * A key is the id that the driver derives from (execution scope, wait); the core sees verified resolutions only.
 * A wait belongs to the requests whose calls wait on it, and leaves the state with the last of them. One that is a
 * call's own, or that of a life of it, leaves with that.
 *
 * Invariants
 *   W1  a resolved or revoked wait has no waiters
 *   W2  an unclaimed wait is resolved or revoked; no resolution makes more than `max_unclaimed` of them
 *   W3  every waiter is an open wait effect of a live call, or a pending call; every pending call is a waiter
 *   W4  a wait names the running requests that hold it, and each of them lists it, once
 *   W5  in a deleted session no wait is open
 *   W6  the body of a call lists the waits that are its own, and those of no earlier life
 */
import type { Json, Resolution } from "@pawl/tool-value";
import { signalEventType } from "../identity/scope.ts";
import type { CallRef, Event, State } from "../kernel/vocabulary.ts";
import type { Table } from "../kernel/table.ts";
import type { Said } from "../message/message.ts";

/** Waits: a body, by the key of its effect; or a pending call. */
export interface Waiter {
  readonly call: CallRef;
  readonly effect?: string;
}

export interface Terminal {
  readonly resolution: Resolution;
  /** The event that resolved it. */
  readonly seq: number;
}

/** Whose own a wait is: a call's, or a life's of it. */
export interface OwnWait {
  readonly call: CallRef;
  readonly life?: number;
}

export interface WaitRow {
  readonly key: string;
  readonly born: number;
  readonly waiters: readonly Waiter[];
  /** The live requests whose calls have waited on it. */
  readonly requests: readonly string[];
  readonly terminal?: Terminal;
  readonly revoked?: true;
  readonly own?: OwnWait;
}

export type WaitEvent =
  | {
      readonly type: "wait.resolved";
      readonly key: string;
      readonly resolution: Resolution;
      readonly by?: string;
      /** The resolver's own name for it, by which it is known again. */
      readonly resolution_id?: string;
      /** Whose key it is, as its token says: where that call, or life, is over, the key resolves nothing. */
      readonly call?: string;
      readonly life?: number;
    }
  | { readonly type: "wait.cancelled"; readonly call: string; readonly key: string }
  | { readonly type: "wait.revoked"; readonly keys: readonly string[] };

/** Signals that waits hear. */
export type WaitSignal =
  | {
      readonly type: "wait.open";
      readonly key: string;
      readonly waiter: Waiter;
      readonly request: string;
      readonly own?: OwnWait;
    }
  | { readonly type: "wait.leave"; readonly key: string; readonly waiter: Waiter }
  /** A call's end resolves its completion key, so that a late completion is told so. */
  | {
      readonly type: "wait.close";
      readonly key: string;
      readonly waiter: Waiter;
      readonly request: string;
      readonly resolution: Resolution;
    }
  /** A call is over, or a life of it: what is its own leaves with it. */
  | ({ readonly type: "waits.leave"; readonly keys: readonly string[] } & OwnWait)
  | { readonly type: "waits.forget"; readonly request: string; readonly keys: readonly string[] }
  /** Nobody may resolve these any more. */
  | { readonly type: "waits.revoke"; readonly keys: readonly string[] }
  /** A request holds a key that is resolved from within, before any of its calls waits there. */
  | { readonly type: "wait.claim"; readonly key: string; readonly request: string }
  /** A key is resolved from within. `isKept`: also where nobody holds it, for whoever comes. */
  | { readonly type: "wait.settle"; readonly key: string; readonly resolution: Resolution; readonly isKept: boolean };

/** Its rows in a state. */
export interface WaitRows {
  readonly waits: Table<WaitRow>;
  /** Waits that were resolved before anyone waited. */
  readonly unclaimed: number;
}

// Resolutions, as drivers tell them.

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
