/** Tool calls as history keeps them, and as observers of a session or a turn see them. */
import * as E from "fp-ts/lib/Either.js";
import { type Codec, codecFrom, string, u64 } from "./codec.ts";
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

interface ActivityHead {
  readonly id: string;
  readonly correlation_id: string;
}
const ActivityHead: Codec<ActivityHead> = record<ActivityHead>("struct TurnActivity", {
  id: string,
  correlation_id: string,
});

/** A turn event with its own id and the id that it shares with related events. */
export type TurnActivity = ActivityHead & TurnEvent;
export const TurnActivity: Codec<TurnActivity> = codecFrom<TurnActivity>(
  "TurnActivity",
  (u): u is TurnActivity => ActivityHead.is(u) && TurnEvent.is(u),
  (u, c) => {
    const head = ActivityHead.validate(u, c);
    if (E.isLeft(head)) return head;
    const event = TurnEvent.validate(u, c);
    return E.isLeft(event) ? event : E.right({ ...head.right, ...event.right });
  },
  (activity) => ({ ...(ActivityHead.encode(activity) as object), ...(TurnEvent.encode(activity) as object) }),
);

/** Returns the correlation id of a call's events. */
export const callCorrelation = (callId: string): string => `tool:${callId}`;
