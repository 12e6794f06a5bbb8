/** The event types that every process has, whatever else it declares; and the events that end it. */
import type { Json } from "@pawl/tool-value";
import { terminalKey } from "../identity/process.ts";
import { ProcessAwaitOutput } from "../message/process.ts";
import type { EventTypeSemantics, ProcessEventAppendRequest, ProcessEventType, TerminalState } from "./model.ts";

export const coreEvent = {
  cancelRequested: "process.cancel_requested",
  waiting: "process.waiting",
  resumed: "process.resumed",
  completed: "process.completed",
  failed: "process.failed",
  cancelled: "process.cancelled",
} as const;

const anyPayload = (name: string, semantics: EventTypeSemantics = {}): ProcessEventType => ({
  name,
  payload_schema: { schema: {} },
  semantics,
});
const terminal = (state: TerminalState): ProcessEventType =>
  anyPayload(coreEvent[state], { terminal: { state, await_output: { pointer: "/await_output" } } });

export const coreEventTypes: readonly ProcessEventType[] = [
  anyPayload(coreEvent.cancelRequested),
  anyPayload(coreEvent.waiting),
  anyPayload(coreEvent.resumed),
  terminal("completed"),
  terminal("failed"),
  terminal("cancelled"),
];

const stateOf: { readonly [T in ProcessAwaitOutput["type"]]: TerminalState } = {
  success: "completed",
  failure: "failed",
  cancelled: "cancelled",
};

/** The event that ends a process so. Ended twice with one output it is ended once; with another, it is a conflict. */
export const completionRequest = (processId: string, output: ProcessAwaitOutput): ProcessEventAppendRequest => {
  const eventType = coreEvent[stateOf[output.type]];
  return {
    event_type: eventType,
    payload: { await_output: ProcessAwaitOutput.encode(output) as Json },
    replay: { key: terminalKey(processId, eventType) },
  };
};
