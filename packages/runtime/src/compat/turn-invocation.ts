/** Invocations whose keys are not a call's: of turns, of direct completions, of triggers. */
import { type CausalRef, type RuntimeEffectKind, type RuntimeInvocation, batchOccurrence } from "@pawl/sansio-core";
import { type Json, stableHash } from "@pawl/tool-value";
import { effectInvocation } from "./invocation.ts";
import { LlmRequest } from "./llm-request.ts";

/** Where a turn is. */
export interface TurnPlace {
  readonly session_id: string;
  readonly turn_id: string;
  readonly turn_index: number;
  readonly protocol_iteration: number;
}

/** An effect that a turn's machine asks for, under the number that the machine gave it. */
export const turnInvocation = (
  { session_id, turn_id, turn_index, protocol_iteration }: TurnPlace,
  kind: RuntimeEffectKind,
  machineEffectId: number,
): RuntimeInvocation => ({
  scope: { session_id, turn_id, turn_index, protocol_iteration },
  subject: { type: "effect", effect_id: `${machineEffectId}`, kind },
  replay: { key: [session_id, turn_id, turn_index, protocol_iteration, kind, machineEffectId].join(":") },
});

/** A cause, as it stands in the key of a direct completion. */
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

export interface DirectCompletion {
  readonly session_id: string;
  readonly turn_id?: string;
  readonly usage_source: string;
  readonly caused_by?: CausalRef;
  /** What is asked, under a key of the caller's own or under what it says. */
  readonly request: LlmRequest | { readonly key: string };
  /** The how manieth time, from 1: the same request again is a new one. */
  readonly occurrence?: number;
}

/** What tells a direct completion from others of its turn. */
export const directDiscriminator = ({ caused_by, request, occurrence = 1 }: DirectCompletion): string => {
  const cause = caused_by === undefined ? "" : causeText(caused_by);
  const asked =
    "key" in request ? `request:${request.key}` : `sha256:${stableHash(LlmRequest.encode(request) as Json)}`;
  return batchOccurrence(`${cause}${asked}`, occurrence);
};

/** A completion that a tool or a host asks for beside the turn's own. */
export const directInvocation = (completion: DirectCompletion): RuntimeInvocation => {
  const { session_id, turn_id = "", usage_source, caused_by } = completion;
  const effectId = directDiscriminator(completion);
  const turn = turn_id === "" ? "" : `${turn_id}:`;
  const replayKey = `${session_id}:${turn}direct:${usage_source}:${effectId}`;
  return {
    ...effectInvocation({ sessionId: session_id }, { effectId, kind: "direct", replayKey }),
    scope: { session_id, ...(turn_id === "" ? {} : { turn_id }) },
    ...(caused_by === undefined ? {} : { caused_by }),
  };
};

/** What a trigger sets off. */
export const triggerInvocation = (sessionId: string, occurrenceId: string): RuntimeInvocation => ({
  scope: { session_id: sessionId },
  subject: { type: "trigger_occurrence", occurrence_id: occurrenceId },
  replay: { key: `trigger:${occurrenceId}` },
});
