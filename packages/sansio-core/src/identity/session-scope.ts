/** A session, or one agent's frame in it: who holds process handles and is woken. */
import { type Codec, optional, record, string } from "@pawl/tool-value";

export interface SessionScope {
  readonly session_id: string;
  readonly agent_frame_id?: string;
}
export const SessionScope: Codec<SessionScope> = record<SessionScope>("struct SessionScope", {
  session_id: string,
  agent_frame_id: optional(string),
});

/** Of the name of a scope. */
export const isSession = (scope: string): boolean => scope.startsWith("session:");

/** Names a session's scope, with its agent frame. */
export const sessionScopeId = ({ session_id, agent_frame_id = "" }: SessionScope): string =>
  agent_frame_id === "" ? `session:${session_id}` : `session:${session_id}/frame:${agent_frame_id}`;
