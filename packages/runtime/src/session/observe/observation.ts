/**
 * Observations of a scope and the frames that carry them, as types and as codecs for a wire. Observations are made of the
 * commands that the events of a scope produced: live and from the log the same.
 */
import { type CommandOf, type Command, type Event, Invariant } from "@pawl/sansio-core";
import {
  type Output,
  type Progress,
  type Task,
  OutputCodec,
  type ProcessStatus,
  ProgressCodec,
  TaskCodec,
  type UnknownCause,
  runOfAttempt,
} from "@pawl/sansio-core/driver";
import {
  type Codec,
  type Json,
  ToolCallOutput,
  record,
  string,
  u64,
  array,
  json,
  named,
  oneOf,
  optional,
  tagged,
} from "@pawl/tool-value";
import type { Cause } from "../../scope/runner.ts";

/** A message about the progress of a call; shown to observers and not recorded. */
export interface ProgressMessage {
  readonly message: string;
  /** How much is done, and of how much, as whole numbers: 3 of 10. */
  readonly done?: number;
  readonly total?: number;
  /** Lets a client show messages of several kinds apart; `status` where it is left out. */
  readonly kind?: string;
}

/** The position of an observation: its event in the log of a scope, and its index among those of the event. */
export interface Cursor {
  readonly scope: string;
  readonly seq: number;
  readonly index: number;
}
export const Cursor: Codec<Cursor> = record<Cursor>("struct Cursor", { scope: string, seq: u64, index: u64 });

/** Returns the cursor behind all observations of an event. */
export const endOf = (scope: string, seq: number): Cursor => ({ scope, seq, index: Number.MAX_SAFE_INTEGER });

/** Returns whether a cursor lies after another one of the same scope. */
export const isAfter = (a: Cursor, b: Cursor): boolean => (a.seq === b.seq ? a.index > b.index : a.seq > b.seq);

export interface OfCall {
  /** Its name in the scope, `{request}:{label}`, by which it is approved, rejected and cancelled. */
  readonly call: string;
  readonly tool: string;
  /** The name that whoever asked for it gave it, as a model does. */
  readonly label: string;
  readonly args: Json;
}

/** How a call has ended. */
interface Ended {
  readonly output: ToolCallOutput;
  readonly durationMs: number;
  /** Why nobody knows what the call came to. From protocol 2 on. */
  readonly cause?: UnknownCause;
}

export type Observation =
  /** The call was made: its tool is about to be asked, or to be approved. */
  | ({ readonly type: "call_started" } & OfCall)
  | ({ readonly type: "call_completed" } & OfCall & Ended)
  /** The call awaits a person's approval of these arguments; a decision names their `stableHash`. */
  | ({ readonly type: "call_parked" } & OfCall)
  /** A person has approved the call, with these arguments, or rejected it. From protocol 2 on. */
  | ({ readonly type: "call_decided"; readonly decision: "approved" | "rejected"; readonly by: string } & OfCall)
  /** Nobody knows what the call comes to: it waits for a person, its host, or another version of its tool. */
  | ({ readonly type: "call_unknown"; readonly cause: UnknownCause } & OfCall)
  /** A body that was not waited for any more has ended all the same. */
  | ({ readonly type: "call_settled_late"; readonly output?: ToolCallOutput; readonly durationMs?: number } & OfCall)
  | ({ readonly type: "process" } & Omit<CommandOf<"process.observe">, "type">)
  | { readonly type: "task"; readonly what: CommandOf<"task.observe">["what"]; readonly task: Task }
  /** A background run's report since its last one. */
  | ({ readonly type: "run_reported"; readonly output: readonly Output[] } & Omit<RunSaid, "type" | "output" | OfTask>)
  | { readonly type: "session_told"; readonly key: string; readonly text: string; readonly schedule?: string };
type OfTask = "task" | "title";

/** One word of a background run; those who watch its session hear it as well. */
interface RunSaid {
  readonly type: "run";
  readonly process: string;
  /** The name of the attempt that speaks, and of its folder. */
  readonly run: string;
  readonly task: string;
  readonly title: string;
  readonly attempt: number;
  readonly detail?: string;
  readonly progress?: Progress;
  readonly output?: Output;
}

/** A message about the progress of a call, as observers and the wire have it. */
export interface ProgressSaid {
  readonly text: string;
  readonly kind: string;
  readonly done?: number;
  readonly total?: number;
}
/** Lists the fields of a report of progress, for codecs. */
export const progressFields = { text: string, kind: string, done: optional(u64), total: optional(u64) } as const;

/** Heard by who listens at the time, and recorded nowhere. */
export type Ephemeral =
  | RunSaid
  | ({ readonly type: "progress" } & ProgressSaid & Omit<OfCall, "args">)
  | { readonly type: "plugin_event"; readonly plugin: string; readonly call: string; readonly event: Json };

export type Frame =
  | { readonly type: "observed"; readonly cursor: Cursor; readonly at: number; readonly observation: Observation }
  | { readonly type: "ephemeral"; readonly observation: Ephemeral }
  /** Observations from one cursor to the other, both included, were missed. The log may still have them. */
  | { readonly type: "gap"; readonly from: Cursor; readonly to: Cursor }
  /** So many ephemeral observations were missed here: they are recorded nowhere. */
  | { readonly type: "missed"; readonly count: number };
export type Observed = Extract<Frame, { readonly type: "observed" }>;

const ofRun = {
  process: string,
  run: string,
  attempt: u64,
  detail: optional(string),
  progress: optional(ProgressCodec),
} as const;
const unknownCause = oneOf<UnknownCause>("a cause", "owner_lost", "crash_loop", "diverged");
const nameOfCall = { call: string, label: named("call_id", string), tool: named("name", string) } as const;
const callFields = { ...nameOfCall, args: json } as const;

const ObservationCodec: Codec<Observation> = tagged<Observation, "type">("observation", "type", {
  call_started: callFields,
  call_completed: {
    ...callFields,
    output: ToolCallOutput,
    durationMs: named("duration_ms", u64),
    cause: optional(unknownCause),
  },
  call_parked: callFields,
  call_decided: { ...callFields, decision: oneOf("a decision", "approved", "rejected"), by: string },
  call_unknown: { ...callFields, cause: unknownCause },
  call_settled_late: {
    ...callFields,
    output: optional(ToolCallOutput),
    durationMs: named("duration_ms", optional(u64)),
  },
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
  progress: { ...progressFields, ...nameOfCall },
  plugin_event: { plugin: string, call: string, event: json },
});

/** Decodes and encodes the frames of an observation, as the wire carries them. */
export const FrameCodec: Codec<Frame> = tagged<Frame, "type">("frame", "type", {
  observed: { cursor: Cursor, at: u64, observation: ObservationCodec },
  ephemeral: { observation: EphemeralCodec },
  gap: { from: Cursor, to: Cursor },
  missed: { count: u64 },
});

const ofCall = ({ call, call_id: label, tool, args }: CommandOf<"observe">): OfCall => ({ call, tool, label, args });

const ofEnd = (command: CommandOf<"observe">): Observation => {
  const { call, output, cause, duration_ms: durationMs = 0 } = command;
  if (output === undefined) throw new Invariant(`call \`${call}\` completed without an output`);
  const ended = { ...ofCall(command), output, durationMs };
  return { type: "call_completed", ...ended, ...(cause === undefined ? {} : { cause }) };
};

const late = (command: CommandOf<"observe">): Observation => {
  const { output, duration_ms: durationMs } = command;
  const ended = { ...(output === undefined ? {} : { output }), ...(durationMs === undefined ? {} : { durationMs }) };
  return { type: "call_settled_late", ...ofCall(command), ...ended };
};

const ofCallCommand = (command: CommandOf<"observe">): readonly Observation[] => {
  switch (command.what) {
    case "call_started":
      return [{ type: "call_started", ...ofCall(command) }];
    case "call_completed":
      return [ofEnd(command)];
    case "call_settled_late":
      return [late(command)];
    case "call_parked":
      return [{ type: "call_parked", ...ofCall(command) }];
    case "call_decided":
      return command.decided === undefined ? [] : [{ type: "call_decided", ...ofCall(command), ...command.decided }];
    case "call_unknown":
      return [{ type: "call_unknown", ...ofCall(command), cause: command.cause ?? "owner_lost" }];
    case "call_crashed":
      return []; // Only the host is told: its log warns.
  }
};

const ofReport = ({ process, attempt }: CommandOf<"run.observe">, event: Event): readonly Observation[] => {
  if (event.type !== "run.reported") throw new Invariant(`run \`${process}\` is observed by \`${event.type}\``);
  return [{ ...event, type: "run_reported", process, run: runOfAttempt(process, attempt) }];
};

const ofCommand = (command: Command, event: Event): readonly Observation[] => {
  switch (command.type) {
    case "observe":
      return ofCallCommand(command);
    case "process.observe":
      return [{ ...command, type: "process" }];
    case "task.observe":
      return [{ ...command, type: "task" }];
    case "run.observe":
      return ofReport(command, event);
    case "session.tell":
      return [{ ...command, type: "session_told" }];
    default:
      return [];
  }
};

export const observedIn = (
  scope: string,
  { seq, at, event }: Pick<Cause, "seq" | "at" | "event">,
  commands: readonly Command[],
): readonly Observed[] =>
  commands
    .flatMap((command) => ofCommand(command, event))
    .map((observation, index) => ({
      type: "observed",
      cursor: { scope, seq, index },
      at,
      observation,
    }));
