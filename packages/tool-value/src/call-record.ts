/** Tool calls as history keeps them, and as observers of a session or a turn see them. */
import { type Codec, string, u64 } from "./codec.ts";
import type { Json } from "./json.ts";
import { ToolCallOutput } from "./output.ts";
import { nullable, optional, record } from "./record.ts";
import { tagged } from "./union.ts";
import { json } from "./value.ts";

/** One call in the history. */
export interface ToolCallRecord {
  readonly call_id?: string;
  readonly tool: string;
  readonly args: Json;
  readonly output: ToolCallOutput;
  readonly duration_ms: number;
}
export const ToolCallRecord: Codec<ToolCallRecord> = record<ToolCallRecord>("struct ToolCallRecord", {
  call_id: optional(string),
  tool: string,
  args: json,
  output: ToolCallOutput,
  duration_ms: u64,
});

export type SessionEvent =
  | { readonly type: "tool_call_start"; readonly call_id?: string; readonly name: string; readonly args: Json }
  | {
      readonly type: "tool_call";
      readonly call_id?: string;
      readonly name: string;
      readonly args: Json;
      readonly output: ToolCallOutput;
      readonly duration_ms: number;
    };
export const SessionEvent: Codec<SessionEvent> = tagged<SessionEvent, "type">("SessionEvent", "type", {
  tool_call_start: { call_id: optional(string), name: string, args: json },
  tool_call: { call_id: optional(string), name: string, args: json, output: ToolCallOutput, duration_ms: u64 },
});

export type TurnEvent =
  | { readonly type: "tool_call_started"; readonly call_id: string | null; readonly name: string; readonly args: Json }
  | {
      readonly type: "tool_call_completed";
      readonly call_id: string | null;
      readonly name: string;
      readonly args: Json;
      readonly output: ToolCallOutput;
      readonly duration_ms: number;
    };
export const TurnEvent: Codec<TurnEvent> = tagged<TurnEvent, "type">("TurnEvent", "type", {
  tool_call_started: { call_id: nullable(string), name: string, args: json },
  tool_call_completed: {
    call_id: nullable(string),
    name: string,
    args: json,
    output: ToolCallOutput,
    duration_ms: u64,
  },
});
