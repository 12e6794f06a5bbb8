/** Completions that tools and hosts request beside a turn's own: their effect ids and replay keys. */
import type { CausalRef } from "../message/invocation.ts";
import type { EffectIdentity } from "./child.ts";
import { batchOccurrence } from "./prepared.ts";

export interface DirectCompletion {
  readonly session_id: string;
  /** An empty id counts as absent. */
  readonly turn_id?: string;
  readonly usage_source: string;
  readonly caused_by?: CausalRef;
  /** The caller's own key for the request, or the hash of the request. */
  readonly request: { readonly key: string } | { readonly hash: string };
  /** Counts equal requests from 1: the same request again is a new effect. */
  readonly occurrence?: number;
}

const causeText = (cause: CausalRef): string => {
  switch (cause.type) {
    case "turn":
      return `cause:turn:${cause.session_id}:${cause.turn_id}:`;
    case "effect":
      return `cause:effect:${cause.session_id}:${cause.turn_id ?? ""}:${cause.effect_id}:`;
    case "tool_call":
      return `cause:tool_call:${cause.session_id}:${cause.call_id}:`;
    case "process":
      return `cause:process:${cause.process_id}:`;
    case "process_event":
      return `cause:process_event:${cause.process_id}:${cause.sequence}:`;
    case "trigger_occurrence":
      return `cause:trigger:${cause.occurrence_id}:`;
    case "session_node":
      return `cause:session_node:${cause.session_id}:${cause.node_id}:`;
  }
};

/** Names a direct completion: by its cause and its request, within its session, turn and usage source. */
export const directIdentity = (completion: DirectCompletion): EffectIdentity => {
  const { session_id, turn_id = "", usage_source, caused_by, request, occurrence = 1 } = completion;
  const cause = caused_by === undefined ? "" : causeText(caused_by);
  const asked = "key" in request ? `request:${request.key}` : `sha256:${request.hash}`;
  const effect_id = batchOccurrence(`${cause}${asked}`, occurrence);
  const turn = turn_id === "" ? "" : `${turn_id}:`;
  return { effect_id, replay_key: `${session_id}:${turn}direct:${usage_source}:${effect_id}` };
};
