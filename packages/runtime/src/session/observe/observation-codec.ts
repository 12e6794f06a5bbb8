/** Frames of observers as records, for whoever hears of them over a wire. */
import { OutputCodec, type ProcessStatus, ProgressCodec, TaskCodec } from "@pawl/sansio-core/driver";
import {
  type Codec,
  SessionEvent,
  ToolCallOutput,
  TurnActivity,
  array,
  json,
  oneOf,
  optional,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { Cursor, type Ephemeral, type Frame, type Observation } from "./observation.ts";

const ofRun = {
  process: string,
  run: string,
  attempt: u64,
  detail: optional(string),
  progress: optional(ProgressCodec),
} as const;
const ofCall = { call: string, call_id: string, name: string, args: json } as const;

const ObservationCodec: Codec<Observation> = tagged<Observation, "type">("observation", "type", {
  session_event: { event: SessionEvent },
  activity: { activity: TurnActivity },
  call_parked: ofCall,
  call_settled_late: { ...ofCall, output: optional(ToolCallOutput), duration_ms: optional(u64) },
  process: {
    what: oneOf<"registered" | "event" | "ended">("what is observed", "registered", "event", "ended"),
    process: string,
    sequence: u64,
    event_type: optional(string),
    payload: optional(json),
    state: optional(oneOf<ProcessStatus["state"]>("a process state", "running", "completed", "failed", "cancelled")),
  },
  task: {
    what: oneOf<"created" | "updated" | "message_sent" | "message_received">(
      "what is observed",
      "created",
      "updated",
      "message_sent",
      "message_received",
    ),
    task: TaskCodec,
  },
  run_reported: { ...ofRun, output: array(OutputCodec) },
  session_told: { key: string, text: string, schedule: optional(string) },
});

const EphemeralCodec: Codec<Ephemeral> = tagged<Ephemeral, "type">("ephemeral observation", "type", {
  run: { ...ofRun, task: string, title: string, output: optional(OutputCodec) },
  progress: { text: string, kind: string, call: string, call_id: string, name: string },
  plugin_event: { plugin: string, call: string, event: json },
});

/** Reads and writes the frames of observers. */
export const FrameCodec: Codec<Frame> = tagged<Frame, "type">("frame", "type", {
  observed: { cursor: Cursor, at: u64, observation: ObservationCodec },
  ephemeral: { observation: EphemeralCodec },
  gap: { from: Cursor, to: Cursor },
});
