/** Calls that are prepared: what is recorded of them, registered for the background, and handed on in a batch. */
import { type Codec, type Json, array, defaulted, json, optional, record, string } from "@pawl/tool-value";

/** What a model provider wants back with the result. */
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
