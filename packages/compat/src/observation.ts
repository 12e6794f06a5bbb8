/** Observations of calls, as other runtimes record them: the activity of a turn, and the events of a session. */
import { type Observed, uuidOf } from "@pawl/runtime/driver";
import { type SessionEvent, type TurnActivity, callCorrelation, stableHash } from "@pawl/tool-value";

/** Returns what a turn's activity has of an observation: the start of a call, or its end. Its id follows from the cursor. */
export const activityOf = ({ cursor, observation }: Observed): TurnActivity | undefined => {
  if (observation.type !== "call_started" && observation.type !== "call_completed") return undefined;
  const { label: call_id, tool: name, args } = observation;
  const { scope, seq, index } = cursor;
  const head = { id: uuidOf(stableHash([scope, seq, index])), correlation_id: callCorrelation(call_id) };
  if (observation.type === "call_started") return { ...head, type: "tool_call_started", call_id, name, args };
  const { output, durationMs: duration_ms } = observation;
  return { ...head, type: "tool_call_completed", call_id, name, args, output, duration_ms };
};

/** Returns what a session's events have of it. A call that has ended is told in its place in the log. */
export const sessionEventOf = ({ observation }: Observed): SessionEvent | undefined => {
  if (observation.type !== "call_started" && observation.type !== "call_completed") return undefined;
  const { label: call_id, tool: name, args } = observation;
  if (observation.type === "call_started") return { type: "tool_call_start", call_id, name, args };
  const { output, durationMs: duration_ms } = observation;
  return { type: "tool_call", call_id, name, args, output, duration_ms };
};
