/**
 * Invocations: the origin of an effect, and the replay key under which its outcome is remembered.
 *
 * Every effect of a body is a child of its call. The call's id is in every key, after the parent's key if there is a
 * parent, else after the id of the execution scope.
 */
import {
  type CausalRef,
  type ParentInvocation,
  type RuntimeEffectKind,
  type RuntimeInvocation,
  batchSuffix,
  callChildKey,
  childKey,
  pendingAwaitSuffix,
  replayBase,
  retrySleepIdentity,
} from "@pawl/sansio-core/driver";

/** The place that an effect comes from. */
export interface EffectPlace {
  readonly sessionId: string;
  /** The id of the execution scope. */
  readonly scopeId: string;
  /** The call that requests it. A turn requests its batches without a call. */
  readonly callId?: string;
  readonly parent?: RuntimeInvocation;
}
export type CallPlace = EffectPlace & { readonly callId: string };

export interface Effect {
  readonly effectId: string;
  readonly kind: RuntimeEffectKind;
  readonly replayKey: string;
}

/** Returns the reference to an invocation as a cause. */
export const causalRefOf = ({ scope, subject }: RuntimeInvocation): CausalRef => {
  const { session_id, turn_id } = scope;
  switch (subject.type) {
    case "effect": {
      const turn = turn_id === undefined ? {} : { turn_id };
      return { type: "effect", session_id, ...turn, effect_id: subject.effect_id };
    }
    case "process":
      return { type: "process", process_id: subject.process_id };
    case "process_event":
      return { type: "process_event", process_id: subject.process_id, sequence: subject.sequence };
    case "trigger_occurrence":
      return { type: "trigger_occurrence", occurrence_id: subject.occurrence_id };
    case "session_node":
      return { type: "session_node", session_id, node_id: subject.node_id };
  }
};

/** Returns the part of an invocation that the keys of its children begin with. */
export const parentOf = ({ subject, replay }: RuntimeInvocation): ParentInvocation => ({
  ...(replay === undefined ? {} : { replayKey: replay.key }),
  ...(subject.type === "effect" ? { effectId: subject.effect_id } : {}),
});

/** Builds the invocation of an effect of a session, or of a child of another effect. */
export const effectInvocation = (
  { sessionId, parent }: Pick<EffectPlace, "sessionId" | "parent">,
  { effectId, kind, replayKey }: Effect,
): RuntimeInvocation => ({
  scope: parent?.scope ?? { session_id: sessionId },
  subject: { type: "effect", effect_id: effectId, kind },
  ...(parent === undefined ? {} : { caused_by: causalRefOf(parent) }),
  replay: { key: replayKey },
});

/** Applies the reference's child rule: the key of a child is its parent's key and a suffix. */
export const childInvocation = (
  parent: RuntimeInvocation,
  { effectId, kind, suffix }: Omit<Effect, "replayKey"> & { readonly suffix: string },
): RuntimeInvocation => {
  const replayKey = childKey(parentOf(parent), suffix);
  return effectInvocation({ sessionId: parent.scope.session_id, parent }, { effectId, kind, replayKey });
};

/** Returns the effect id of a child that is named after its parent. `fallback` replaces a parent that is not an effect. */
export const childEffectId = (parent: RuntimeInvocation, suffix: string, fallback = "effect"): string =>
  `${parentOf(parent).effectId ?? fallback}:${suffix}`;

const keyAt = ({ scopeId, callId, parent }: EffectPlace, suffix: string): string => {
  if (parent === undefined) return `${callId === undefined ? scopeId : replayBase(scopeId, callId)}:${suffix}`;
  return callId === undefined ? childKey(parentOf(parent), suffix) : callChildKey(parentOf(parent), callId, suffix);
};

/** Applies the reference's step rule: effect id and key end in the same suffix. */
const stepRule = (place: CallPlace, kind: RuntimeEffectKind, suffix: string): RuntimeInvocation =>
  effectInvocation(place, { effectId: `${place.callId}:${suffix}`, kind, replayKey: keyAt(place, suffix) });

/** Builds the invocation of a durable step of a call. */
export const stepInvocation = (place: CallPlace, stepId: string): RuntimeInvocation =>
  stepRule(place, "durable_step", `durable-step:${stepId}`);

/** Builds the invocation of a call's wait for an event from outside. */
export const awaitInvocation = (place: CallPlace, keyId: string): RuntimeInvocation =>
  stepRule(place, "await_event", `await-event:${keyId}`);

/** Builds the invocation of a batch of calls. The same calls again are a new batch; `occurrence` counts from 1. */
export const batchInvocation = (place: EffectPlace, batchId: string, occurrence = 1): RuntimeInvocation => {
  const suffix = batchSuffix(batchId, occurrence);
  const effectId = place.parent === undefined ? suffix : childEffectId(place.parent, suffix);
  return effectInvocation(place, { effectId, kind: "tool_batch", replayKey: keyAt(place, suffix) });
};

/** Builds the invocation of the pause after a failed attempt. */
export const retrySleepInvocation = (
  { sessionId, callId, parent }: Omit<EffectPlace, "scopeId">,
  tool: string,
  attempt: number,
): RuntimeInvocation => {
  const { effect_id, replay_key } = retrySleepIdentity({
    sessionId,
    tool,
    attempt,
    ...(callId === undefined ? {} : { callId }),
    ...(parent === undefined ? {} : { parent: parentOf(parent) }),
  });
  const place = { sessionId, ...(parent === undefined ? {} : { parent }) };
  return effectInvocation(place, { effectId: effect_id, kind: "sleep", replayKey: replay_key });
};

const awaitParent = (sessionId: string, callId: string): RuntimeInvocation => {
  const id = `tool:${pendingAwaitSuffix(callId)}`;
  return effectInvocation({ sessionId }, { effectId: id, kind: "await_event", replayKey: id });
};

/** Builds the invocation of a pending call's wait. Without a parent, the call gets one of its own. */
export const pendingAwaitInvocation = ({
  sessionId,
  callId,
  parent = awaitParent(sessionId, callId),
}: Omit<CallPlace, "scopeId">): RuntimeInvocation => {
  const suffix = pendingAwaitSuffix(callId);
  return childInvocation(parent, { effectId: childEffectId(parent, suffix, "tool"), kind: "await_event", suffix });
};
