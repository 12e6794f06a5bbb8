/** The outcome of a turn. */
import { type Codec, type Json, external, json, nullable, record, string } from "@pawl/tool-value";

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
