/** The keys of what a call does inside something greater: they begin with its parent's. */
import { toolReplayKey } from "../kernel/ids.ts";

/** What keys need to know of the invocation that a call is part of. */
export interface ParentInvocation {
  /** An empty key is a key. */
  readonly replayKey?: string;
  /** Where the parent is an effect. */
  readonly effectId?: string;
}

/** How an effect is called, and under which key it is remembered. */
export interface EffectIdentity {
  readonly effect_id: string;
  readonly replay_key: string;
}

const baseOf = ({ replayKey, effectId }: ParentInvocation): string => replayKey ?? effectId ?? "effect";

/** The key of something below a parent; its suffix names the call, where a call makes it. */
export const childKey = (parent: ParentInvocation, suffix: string): string => `${baseOf(parent)}:${suffix}`;

/** As `childKey`, for what a call does: two calls never meet in a key. */
export const callChildKey = (parent: ParentInvocation, callId: string, suffix: string): string =>
  childKey(parent, `${callId}:${suffix}`);

/** The suffix of a pending call's wait: it begins with the call id, and is not prefixed again. */
export const pendingAwaitSuffix = (callId: string): string => `${callId}:await`;

/** The end of the key of the pause after an attempt. */
export const retrySleepSuffix = (tool: string, attempt: number): string => `${tool}:attempt:${attempt}:sleep`;

export interface RetrySleep {
  readonly sessionId: string;
  readonly callId?: string;
  readonly tool: string;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly parent?: ParentInvocation;
}

/** The pause between two attempts, as an effect. */
export const retrySleepIdentity = ({ sessionId, callId, tool, attempt, parent }: RetrySleep): EffectIdentity => {
  const suffix = retrySleepSuffix(tool, attempt);
  if (parent !== undefined) {
    const replay_key = callId === undefined ? childKey(parent, suffix) : callChildKey(parent, callId, suffix);
    return { effect_id: `${parent.effectId ?? "effect"}:${suffix}`, replay_key };
  }
  const base = callId === undefined ? `lash-tool:${sessionId}:unknown:${tool}` : toolReplayKey(sessionId, callId, tool);
  const key = `${base}:attempt:${attempt}:sleep`;
  return { effect_id: key, replay_key: key };
};
