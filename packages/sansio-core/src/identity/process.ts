/** Names and keys of what is done with processes. Those that need a hash are in `process-hash.ts`. */
import { absurd } from "../kernel/error.ts";
import { type SessionScope, sessionScopeId } from "./scope.ts";

/** Names the event type under which a process takes a signal. */
export const signalEventType = (name: string): string => `signal.${name}`;

/** The keys under which a process's own log knows an event again. */
export const terminalKey = (processId: string, eventType: string): string =>
  `process:${processId}:terminal:${eventType}`;

/** Makes the replay key under which a process is asked to end. */
export const cancelKey = (processId: string, payloadHash: string): string =>
  `process:${processId}:cancel_requested:${payloadHash}`;

export const signalKey = (processId: string, name: string, signalId: string): string =>
  `process:${processId}:${signalEventType(name)}:${signalId}`;

/** The name of the wait for the signal with this ordinal. */
export const signalWaitKey = (processId: string, name: string, ordinal: number): string =>
  `process:${processId}:${signalEventType(name)}:${ordinal}`;

/** The key of a process event of a call: numbered in the order emitted, from 0, in each attempt. */
export const processEventKey = (callName: string, attempt: number, index: number): string =>
  attempt <= 1
    ? `tool:${callName}:durable-process-event:${index}`
    : `tool:${callName}:attempt:${attempt}:durable-process-event:${index}`;

export type ProcessListMode = "live" | "all";

/** A request to the registry of processes. */
export type ProcessEffect =
  | { readonly op: "start" | "await" | "cancel"; readonly process_id: string }
  | { readonly op: "list"; readonly scope: SessionScope; readonly mode: ProcessListMode }
  | { readonly op: "transfer"; readonly from: SessionScope; readonly to: SessionScope; readonly ids_hash: string }
  | { readonly op: "delete_session"; readonly session_id: string }
  | { readonly op: "signal"; readonly process_id: string; readonly signal_name: string; readonly signal_id: string };

/** Names an effect of a process in the reference's envelopes. */
export const processEffectId = (effect: ProcessEffect): string => {
  switch (effect.op) {
    case "start":
    case "await":
    case "cancel":
      return `process:${effect.op}:${effect.process_id}`;
    case "list":
      return `process:list:${sessionScopeId(effect.scope)}:${effect.mode}`;
    case "transfer":
      return `process:transfer:${sessionScopeId(effect.from)}:${sessionScopeId(effect.to)}:${effect.ids_hash}`;
    case "delete_session":
      return `process:delete-session:${effect.session_id}`;
    case "signal":
      return `process:signal:${effect.process_id}:${signalEventType(effect.signal_name)}:${effect.signal_id}`;
    default:
      return absurd(effect);
  }
};

/** The replay key of a process effect. Below one parent the same effect has the same key: it is done once. */
export const processEffectKey = (
  parent: { readonly replayKey?: string } | undefined,
  sessionId: string,
  effectId: string,
): string => `${parent === undefined ? sessionId : (parent.replayKey ?? "process")}:${effectId}`;

/** The ends of the keys of what a process's own run waits for. */
export const processSleepSuffix = (scope: string, index: number): string => `process:${scope}:sleep:${index}`;

/** Names the wait for the n-th signal of a name. */
export const processSignalWaitSuffix = (processId: string, name: string, ordinal: number): string =>
  `process:${processId}:${signalEventType(name)}:await:${ordinal}`;
