/** Sessions, as their host keeps them: each verb is a request of the host's, answered once and remembered. */
import type { Json } from "@pawl/tool-value";
import type { Asking, Durable } from "./asking.ts";
import { hostRequests } from "./host.ts";

export interface SessionVerbs {
  readonly model: () => Durable<Json>;
  readonly snapshotCurrent: () => Durable<Json>;
  readonly snapshot: (sessionId: string) => Durable<Json>;
  readonly createSession: (request: unknown) => Durable<Json>;
  readonly closeSession: (sessionId: string) => Durable<Json>;
  readonly startTurn: (sessionId: string, turnId: string, input: unknown) => Durable<Json>;
  readonly toolCatalog: () => Durable<Json>;
  readonly sharedToolCatalog: () => Durable<Json>;
  /** Null takes the override back. */
  readonly setToolsAvailability: (names: readonly string[], availability: string | null) => Durable<Json>;
}

export interface Sessions {
  readonly sessions: SessionVerbs;
}

export const sessions = (asking: Asking): Sessions => {
  const { host } = hostRequests(asking);
  const ask = (verb: string, input: object = {}): Durable<Json> =>
    host(`sessions.${verb}`, { session_id: asking.facts.session, ...input });
  return {
    sessions: {
      model: () => ask("model"),
      snapshotCurrent: () => ask("snapshot_current"),
      snapshot: (session_id) => ask("snapshot", { session_id }),
      createSession: (request) => ask("create_session", { request }),
      closeSession: (session_id) => ask("close_session", { session_id }),
      startTurn: (session_id, turn_id, input) => ask("start_turn", { session_id, turn_id, input }),
      toolCatalog: () => ask("tool_catalog"),
      sharedToolCatalog: () => ask("shared_tool_catalog"),
      setToolsAvailability: (names, availability) => ask("set_tools_availability", { names, availability }),
    },
  };
};
