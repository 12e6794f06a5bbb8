/** Invocations of commands to processes, and of the waits of a process's own run. */
import {
  type RuntimeEffectKind,
  type RuntimeInvocation,
  type RuntimeScope,
  batchOccurrence,
  processEffectKey,
  processSignalWaitSuffix,
  processSleepSuffix,
  replayBase,
} from "@pawl/sansio-core/driver";
import { type EffectPlace, childEffectId, childInvocation, effectInvocation, parentOf } from "./invocation.ts";
import { type ProcessCommand, commandEffectId } from "./process-effect.ts";

/** Returns the parent's place in its turn, if it has one, with the current session. */
const scopeBelow = (sessionId: string, parent: RuntimeInvocation | undefined): RuntimeScope => {
  if (parent?.scope.turn_id === undefined) return { session_id: sessionId };
  return { ...parent.scope, session_id: sessionId };
};

const processKey = ({ sessionId, scopeId, callId, parent }: EffectPlace, effectId: string): string => {
  if (callId === undefined) return processEffectKey(parent && parentOf(parent), sessionId, effectId);
  return parent === undefined
    ? `${replayBase(scopeId, callId)}:${effectId}`
    : processEffectKey(parentOf(parent), sessionId, `${callId}:${effectId}`);
};

/**
 * Builds the invocation of a command to the registry. The same command at the same place has the same key, so that await,
 * cancel and signal are performed once. A repeated list is a new effect; `occurrence` counts from 1.
 */
export const processInvocation = (place: EffectPlace, command: ProcessCommand, occurrence = 1): RuntimeInvocation => {
  const id = commandEffectId(command);
  const effectId = command.op === "list" ? batchOccurrence(id, occurrence) : id;
  return {
    ...effectInvocation(place, { effectId, kind: "process", replayKey: processKey(place, effectId) }),
    scope: scopeBelow(place.sessionId, place.parent),
  };
};

const runInvocation = (
  { sessionId, parent }: Pick<EffectPlace, "sessionId" | "parent">,
  kind: RuntimeEffectKind,
  suffix: string,
): RuntimeInvocation =>
  parent === undefined
    ? effectInvocation({ sessionId }, { effectId: suffix, kind, replayKey: suffix })
    : childInvocation(parent, { effectId: childEffectId(parent, suffix), kind, suffix });

/** Builds the invocation of the n-th sleep of a process's run. */
export const processSleepInvocation = (
  place: Pick<EffectPlace, "sessionId" | "parent">,
  scope: string,
  index: number,
): RuntimeInvocation => runInvocation(place, "sleep", processSleepSuffix(scope, index));

export interface SignalOrdinal {
  readonly processId: string;
  readonly name: string;
  readonly ordinal: number;
}

/** Builds the invocation of a process's wait for the signal with this ordinal. */
export const processSignalWaitInvocation = (
  place: Pick<EffectPlace, "sessionId" | "parent">,
  { processId, name, ordinal }: SignalOrdinal,
): RuntimeInvocation => runInvocation(place, "await_event", processSignalWaitSuffix(processId, name, ordinal));
