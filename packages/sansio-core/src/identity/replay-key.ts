/** Replay keys: those of what calls do, which are effects, pauses, prepared batches and waits. */
import { type Codec, type Json, array, defaulted, json, optional, record, string, tagged, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type IdentityError, ExecutionScope, isBlank } from "./scope.ts";
import type { CausalRef } from "../message/invocation.ts";

/** The parent of everything that a body does is its call: the base of all its replay keys. */
export const replayBase = (executionScope: string, name: string): string => `${executionScope}:tool:${name}`;

/** Names the life of a call in front of a key that is made inside its body. Keys of the first life are as they are. */
export const inLife = (life: number, key: string): string => (life === 1 ? key : `life:${life}:${key}`);

/** Returns the idempotency key that a tool gives to an outside service: one for all attempts of a call. */
export const toolReplayKey = (sessionId: string, callName: string, tool: string): string =>
  `lash-tool:${sessionId}:${callName}:${tool}`;

/** The invocation that a call is part of, as far as keys need it. */
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

// Prepared calls: their record, registered for the background, and handed on in a batch.
/** Metadata that a model provider wants back with the result. */
export interface ProviderReplayMeta {
  readonly item_id?: string;
  readonly opaque?: Json;
}
export const ProviderReplayMeta: Codec<ProviderReplayMeta> = record<ProviderReplayMeta>("struct ProviderReplayMeta", {
  item_id: optional(string),
  opaque: optional(json),
});

export interface PreparedToolCall {
  readonly call_id: string;
  readonly tool_id: string;
  readonly tool_name: string;
  readonly args: Json;
  readonly replay?: ProviderReplayMeta;
  readonly prepared_payload: Json;
}
export const PreparedToolCall: Codec<PreparedToolCall> = record<PreparedToolCall>("struct PreparedToolCall", {
  call_id: string,
  tool_id: string,
  tool_name: string,
  args: json,
  replay: optional(ProviderReplayMeta),
  prepared_payload: defaulted<Json>(json, null, (payload) => payload === null),
});

export interface PreparedToolBatch {
  readonly batch_id: string;
  readonly calls: readonly PreparedBatchCall[];
}
export interface PreparedBatchCall {
  readonly call: PreparedToolCall;
  readonly replay_suffix: string;
}
export const PreparedToolBatch: Codec<PreparedToolBatch> = record<PreparedToolBatch>("struct PreparedToolBatch", {
  batch_id: string,
  calls: array(
    record<PreparedBatchCall>("struct PreparedToolBatchCall", { call: PreparedToolCall, replay_suffix: string }),
  ),
});

/** The end of the key of one call in a batch: the index counts prepared calls. */
const batchCallSuffix = (index: number, callId: string): string => `child:${index}:${callId}`;

/** A batch of prepared calls, in their order. */
export const preparedBatch = (batchId: string, calls: readonly PreparedToolCall[]): PreparedToolBatch => ({
  batch_id: batchId,
  calls: calls.map((call, index) => ({ call, replay_suffix: batchCallSuffix(index, call.call_id) })),
});

/** The same batch again is a new batch: the first keeps the plain id, the n-th says so. */
export const batchOccurrence = (batchId: string, occurrence: number): string =>
  occurrence <= 1 ? batchId : `${batchId}#${occurrence}`;

const batchPrefix = "tool-batch:";

/** The end of a batch's own key, its prefix written once. */
export const batchSuffix = (batchId: string, occurrence: number): string =>
  batchOccurrence(batchId.startsWith(batchPrefix) ? batchId : `${batchPrefix}${batchId}`, occurrence);

// Keys of waits, inside an execution scope.
export type AwaitEventWaitIdentity =
  | { readonly type: "tool_completion"; readonly tool_call_id: string }
  | {
      readonly type: "process_signal";
      readonly process_id: string;
      readonly signal_name: string;
      /** The how manieth signal of that name: from 1. */
      readonly ordinal: number;
    }
  | { readonly type: "custom"; readonly key: string };
export const AwaitEventWaitIdentity: Codec<AwaitEventWaitIdentity> = tagged<AwaitEventWaitIdentity, "type">(
  "AwaitEventWaitIdentity",
  "type",
  {
    tool_completion: { tool_call_id: string },
    process_signal: { process_id: string, signal_name: string, ordinal: u64 },
    custom: { key: string },
  },
);

/** Held by an outside party, to resolve a wait. */
export interface AwaitEventKey {
  readonly scope: ExecutionScope;
  readonly wait: AwaitEventWaitIdentity;
  readonly key_id: string;
  readonly signature: string;
}
export const AwaitEventKey: Codec<AwaitEventKey> = record<AwaitEventKey>("struct AwaitEventKey", {
  scope: ExecutionScope,
  wait: AwaitEventWaitIdentity,
  key_id: string,
  signature: string,
});

const invalidIdentity: IdentityError = {
  code: "invalid_await_event_wait_identity",
  message: "await-event wait identity requires non-empty stable ids",
};

const isMissing = (component: string | number): boolean =>
  typeof component === "number" ? component === 0 : isBlank(component);

/** A wait all of whose names are names. */
export const checkWaitIdentity = (wait: AwaitEventWaitIdentity): E.Either<IdentityError, AwaitEventWaitIdentity> =>
  Object.values<string | number>(wait).some(isMissing) ? E.left(invalidIdentity) : E.right(wait);

/** The name of a wait's promise in a workflow engine. */
export const promiseKey = (keyId: string): string => `lash-await-event:${keyId}`;

// Completions that tools and hosts request beside a turn's own: their effect ids and replay keys.
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
