/** What observers of a turn see: its activities, and how it ended. */
import {
  type Codec,
  type Json,
  TurnEvent,
  codecFrom,
  external,
  json,
  nullable,
  record,
  string,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

interface ActivityHead {
  readonly id: string;
  readonly correlation_id: string;
}
/** A turn event with an id of its own, and the id that ties together what belongs together. */
export type TurnActivity = ActivityHead & TurnEvent;

/** What ties together the activities of a call. */
export const callCorrelation = (callId: string): string => `tool:${callId}`;

const Head: Codec<ActivityHead> = record<ActivityHead>("struct TurnActivity", { id: string, correlation_id: string });

export const TurnActivity: Codec<TurnActivity> = codecFrom<TurnActivity>(
  "TurnActivity",
  (u): u is TurnActivity => Head.is(u) && TurnEvent.is(u),
  (u, c) => {
    const head = Head.validate(u, c);
    if (E.isLeft(head)) return head;
    return E.map((event: TurnEvent): TurnActivity => ({ ...head.right, ...event }))(TurnEvent.validate(u, c));
  },
  (activity) => ({ ...(Head.encode(activity) as object), ...(TurnEvent.encode(activity) as object) }),
);

interface Value {
  readonly value: Json;
}
interface ToolNamedValue {
  readonly tool_name: string;
  readonly value: Json;
}

export type TurnFinish =
  | { readonly assistant_message: { readonly text: string } }
  | { readonly submitted_value: Value }
  | { readonly tool_value: ToolNamedValue };

const stops = [
  "cancelled",
  "incomplete",
  "invalid_input",
  "max_turns",
  "tool_failure",
  "provider_error",
  "plugin_abort",
  "runtime_error",
] as const;
export type TurnStop =
  | (typeof stops)[number]
  | { readonly submitted_error: Value }
  | { readonly tool_error: ToolNamedValue };

export interface AgentFrameSwitch {
  readonly frame_id: string;
  readonly task: string | null;
}

export type TurnOutcome =
  | { readonly finished: TurnFinish }
  | { readonly agent_frame_switch: AgentFrameSwitch }
  | { readonly stopped: TurnStop };

const Value: Codec<Value> = record<Value>("struct Value", { value: json });
const ToolNamedValue: Codec<ToolNamedValue> = record<ToolNamedValue>("struct ToolValue", {
  tool_name: string,
  value: json,
});

export const TurnOutcome: Codec<TurnOutcome> = external<TurnOutcome>("TurnOutcome", [], {
  finished: external<TurnFinish>("TurnFinish", [], {
    assistant_message: record<{ readonly text: string }>("struct AssistantMessage", { text: string }),
    submitted_value: Value,
    tool_value: ToolNamedValue,
  }),
  agent_frame_switch: record<AgentFrameSwitch>("struct AgentFrameSwitch", {
    frame_id: string,
    task: nullable(string),
  }),
  stopped: external<TurnStop>("TurnStop", stops, { submitted_error: Value, tool_error: ToolNamedValue }),
});
