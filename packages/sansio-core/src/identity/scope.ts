/** Names of scopes, which are sessions, processes and executions, and the keys of what is done with processes. */
import { type Codec, optional, record, string, tagged } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { absurd } from "../kernel/error.ts";

/** Returns whether a text is blank. */
export const isBlank = (text: string): boolean => text.trim() === "";

// A session, or one agent's frame in it: it holds process handles, and is woken.

export interface SessionScope {
  readonly session_id: string;
  readonly agent_frame_id?: string;
}
export const SessionScope: Codec<SessionScope> = record<SessionScope>("struct SessionScope", {
  session_id: string,
  agent_frame_id: optional(string),
});

/** Returns whether a name is that of a session's scope. */
export const isSession = (scope: string): boolean => scope.startsWith("session:");

/** Names a session's scope, with its agent frame. */
export const sessionScopeId = ({ session_id, agent_frame_id = "" }: SessionScope): string =>
  agent_frame_id === "" ? `session:${session_id}` : `session:${session_id}/frame:${agent_frame_id}`;

// The scopes that processes live in.

/** The scope that a process lives in, and the process of such a scope. */
export const processScope = (processId: string): string => `process:${processId}`;

/** Returns the id of the process that a scope is of. */
export const processOfScope = (scope: string): string => scope.slice(scope.indexOf(":") + 1);

// An execution scope: on whose behalf calls are made. Every replay key and every wait key begins with it.

export type ExecutionScope =
  | { readonly type: "turn"; readonly session_id: string; readonly turn_id: string }
  | { readonly type: "process"; readonly process_id: string }
  | { readonly type: "queue_drain"; readonly session_id: string; readonly drain_id: string }
  | { readonly type: "session_delete"; readonly session_id: string }
  | { readonly type: "runtime_operation"; readonly operation_id: string };
export const ExecutionScope: Codec<ExecutionScope> = tagged<ExecutionScope, "type">("ExecutionScope", "type", {
  turn: { session_id: string, turn_id: string },
  process: { process_id: string },
  queue_drain: { session_id: string, drain_id: string },
  session_delete: { session_id: string },
  runtime_operation: { operation_id: string },
});

/** Why names make no identity. */
export interface IdentityError {
  readonly code: "missing_execution_scope_id" | "invalid_await_event_wait_identity";
  readonly message: string;
}

const missingId: IdentityError = {
  code: "missing_execution_scope_id",
  message: "execution scopes require non-empty stable ids",
};

/** A scope all of whose names are names. */
export const checkExecutionScope = (scope: ExecutionScope): E.Either<IdentityError, ExecutionScope> =>
  Object.values(scope).some(isBlank) ? E.left(missingId) : E.right(scope);

/** The name of a scope in keys. That of a turn leaves out its session, which the journal's own scope tells. */
export const executionScopeId = (scope: ExecutionScope): string => {
  switch (scope.type) {
    case "turn":
      return scope.turn_id;
    case "process":
      return scope.process_id;
    case "queue_drain":
      return scope.drain_id;
    case "session_delete":
      return scope.session_id;
    case "runtime_operation":
      return scope.operation_id;
    default:
      return absurd(scope);
  }
};

/** The session with which a scope's waits are revoked; processes and operations outlive every session. */
export const sessionOfScope = (scope: ExecutionScope): string | undefined =>
  "session_id" in scope ? scope.session_id : undefined;

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
