/** Invocations without a call in their keys: of turns, direct completions and triggers. */
import { LlmRequest } from "@pawl/runtime/driver";
import {
  type CausalRef,
  type EffectIdentity,
  type RuntimeEffectKind,
  type RuntimeInvocation,
  directIdentity,
} from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import { effectInvocation } from "./invocation.ts";

/** The place of an effect in a turn. */
export interface TurnPlace {
  readonly session_id: string;
  readonly turn_id: string;
  readonly turn_index: number;
  readonly protocol_iteration: number;
}

/** Builds the invocation of an effect of a turn's machine, under the number that the machine gave it. */
export const turnInvocation = (
  { session_id, turn_id, turn_index, protocol_iteration }: TurnPlace,
  kind: RuntimeEffectKind,
  machineEffectId: number,
): RuntimeInvocation => ({
  scope: { session_id, turn_id, turn_index, protocol_iteration },
  subject: { type: "effect", effect_id: `${machineEffectId}`, kind },
  replay: { key: [session_id, turn_id, turn_index, protocol_iteration, kind, machineEffectId].join(":") },
});

export interface DirectCompletion {
  readonly session_id: string;
  readonly turn_id?: string;
  readonly usage_source: string;
  readonly caused_by?: CausalRef;
  /** The request itself, or a key of the caller's own for it. */
  readonly request: LlmRequest | { readonly key: string };
  /** Counts equal requests from 1: the same request again is a new effect. */
  readonly occurrence?: number;
}

const identityOf = ({ request, ...completion }: DirectCompletion): EffectIdentity =>
  directIdentity({
    ...completion,
    request: "key" in request ? request : { hash: stableHash(LlmRequest.encode(request) as Json) },
  });

/** Returns the effect id of a direct completion, which is unique in its turn. */
export const directDiscriminator = (completion: DirectCompletion): string => identityOf(completion).effect_id;

/** Builds the invocation of a completion that a tool or a host requests beside the turn's own. */
export const directInvocation = (completion: DirectCompletion): RuntimeInvocation => {
  const { session_id, turn_id = "", caused_by } = completion;
  const { effect_id: effectId, replay_key: replayKey } = identityOf(completion);
  return {
    ...effectInvocation({ sessionId: session_id }, { effectId, kind: "direct", replayKey }),
    scope: { session_id, ...(turn_id === "" ? {} : { turn_id }) },
    ...(caused_by === undefined ? {} : { caused_by }),
  };
};

/** Builds the invocation of a trigger's occurrence. */
export const triggerInvocation = (sessionId: string, occurrenceId: string): RuntimeInvocation => ({
  scope: { session_id: sessionId },
  subject: { type: "trigger_occurrence", occurrence_id: occurrenceId },
  replay: { key: `trigger:${occurrenceId}` },
});
