/** The stages of a call: requested by a model, launched, completed. */
import {
  type Codec,
  type Json,
  ModelToolReturn,
  PendingCompletion,
  ToolCallOutput,
  json,
  nullable,
  record,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { AwaitEventKey, ProviderReplayMeta } from "@pawl/sansio-core/driver";

/** A call as a model requested it. */
export interface PendingToolCall {
  readonly call_id: string;
  readonly tool_name: string;
  readonly args: Json;
  readonly replay: ProviderReplayMeta | null;
}
export const PendingToolCall: Codec<PendingToolCall> = record<PendingToolCall>("struct PendingToolCall", {
  call_id: string,
  tool_name: string,
  args: json,
  replay: nullable(ProviderReplayMeta),
});

/** A completed call, with what its model gets back. */
export interface CompletedToolCall {
  readonly call_id: string;
  readonly tool_name: string;
  readonly args: Json;
  readonly output: ToolCallOutput;
  readonly model_return: ModelToolReturn;
  readonly duration_ms: number;
  readonly replay: ProviderReplayMeta | null;
}
export const CompletedToolCall: Codec<CompletedToolCall> = record<CompletedToolCall>("struct CompletedToolCall", {
  call_id: string,
  tool_name: string,
  args: json,
  output: ToolCallOutput,
  model_return: ModelToolReturn,
  duration_ms: u64,
  replay: nullable(ProviderReplayMeta),
});

/** The result of a launch: the call is completed, or waits for the outside. */
export type ToolCallLaunch =
  | { readonly status: "done"; readonly result: CompletedToolCall }
  | {
      readonly status: "pending";
      readonly key: AwaitEventKey;
      readonly pending: PendingCompletion;
      readonly duration_ms: number;
    };
export const ToolCallLaunch: Codec<ToolCallLaunch> = tagged<ToolCallLaunch, "status">("ToolCallLaunch", "status", {
  done: { result: CompletedToolCall },
  pending: { key: AwaitEventKey, pending: PendingCompletion, duration_ms: u64 },
});
