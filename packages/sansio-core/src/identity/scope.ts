/** Names of scopes: sessions, processes, executions. */
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
