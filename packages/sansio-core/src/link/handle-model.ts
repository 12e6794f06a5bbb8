/**
 * A handle: the right of a session, or of an agent's frame in it, to use a process; and what was last heard of that.
 *
 *   granted ─▶ [ended] ─▶ revoked, or pushed out by newer ended ones
 *      └── transferred: to another holder here, or to another session by a message
 *
 * With its session all handles go: each process is told, and says whether another session still has it.
 *
 * Invariants
 *   H1  a handle has distinct holders, at least one, all of this session
 *   H2  no more handles of ended processes are kept than `max_ended_handles`
 *   H3  a handle is kept under its process, and `ended` stands where it is ended
 *   H4  a deleted session has no handles, and has asked each process once; its deletion is never undone
 */
import type { Json } from "@pawl/tool-value";
import { type SessionScope, sessionScopeId } from "../identity/session-scope.ts";
import type { GrantedHandle } from "../message/message.ts";
import type { HandleDescriptor, ProcessState } from "../process/model.ts";

export interface HandleRow {
  readonly process: string;
  readonly holders: readonly SessionScope[];
  readonly descriptor: HandleDescriptor;
  readonly definition?: Json;
  readonly status: ProcessState;
  readonly born: number;
  /** The event that told of the end. */
  readonly ended?: number;
}

/** A deleted session: which processes it still waits to hear from, and what it heard of those that live on. */
export interface DeletionRow {
  readonly asked: readonly string[];
  /** No session has their handle any more. */
  readonly orphaned: readonly string[];
  readonly preserved: readonly string[];
}

export type HandleEvent =
  | ({ readonly type: "handle.granted" } & GrantedHandle)
  | {
      readonly type: "handles.transferred";
      readonly from: SessionScope;
      readonly to: SessionScope;
      readonly processes: readonly string[];
    }
  /** Without a list: all that the holder has. */
  | { readonly type: "handles.revoked"; readonly holder: SessionScope; readonly processes?: readonly string[] }
  | { readonly type: "session.deleted" };

export const isSameHolder = (a: SessionScope, b: SessionScope): boolean => sessionScopeId(a) === sessionScopeId(b);

/** The scope whose state a holder's handles are in. */
export const scopeOfHolder = ({ session_id }: SessionScope): string => sessionScopeId({ session_id });

export const isHeldBy = ({ holders }: Pick<HandleRow, "holders">, holder: SessionScope): boolean =>
  holders.some((other) => isSameHolder(other, holder));
