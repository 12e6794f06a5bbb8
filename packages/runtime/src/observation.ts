/** What observers of a scope see, made of the commands that its events produced: live and from the log the same. */
import {
  type Command,
  type Event,
  Invariant,
  type Output,
  type Progress,
  type Task,
  runOfAttempt,
} from "@pawl/sansio-core";
import {
  type Codec,
  type Json,
  type SessionEvent,
  type ToolCallOutput,
  record,
  stableHash,
  string,
  u64,
} from "@pawl/tool-value";
import { type TurnActivity, callCorrelation } from "./compat/turn.ts";
import type { Cause } from "./scope.ts";
import { uuidOf } from "./context/name.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;

/** Where an observation stands: in the log of a scope, and among those of its event. */
export interface Cursor {
  readonly scope: string;
  readonly seq: number;
  readonly index: number;
}
export const Cursor: Codec<Cursor> = record<Cursor>("struct Cursor", { scope: string, seq: u64, index: u64 });

/** The cursor of one who has seen all that an event was, and all before it. */
export const endOf = (scope: string, seq: number): Cursor => ({ scope, seq, index: Number.MAX_SAFE_INTEGER });

export const isAfter = (a: Cursor, b: Cursor): boolean => (a.seq === b.seq ? a.index > b.index : a.seq > b.seq);

interface OfCall {
  readonly call: string;
  readonly call_id: string;
  readonly name: string;
  readonly args: Json;
}

export type Observation =
  | { readonly type: "session_event"; readonly event: SessionEvent }
  | { readonly type: "activity"; readonly activity: TurnActivity }
  /** The call waits for somebody, and is not completed yet. */
  | ({ readonly type: "call_parked" } & OfCall)
  /** A body that was not waited for any more has ended all the same. */
  | ({ readonly type: "call_settled_late"; readonly output?: ToolCallOutput; readonly duration_ms?: number } & OfCall)
  | ({ readonly type: "process" } & Omit<Of<"process.observe">, "type">)
  | { readonly type: "task"; readonly what: Of<"task.observe">["what"]; readonly task: Task }
  /** What a background run said since it last did. */
  | ({ readonly type: "run_reported"; readonly output: readonly Output[] } & Omit<RunSaid, "type" | "output" | OfTask>)
  /** Its session was told. */
  | { readonly type: "session_told"; readonly key: string; readonly text: string; readonly schedule?: string };
type OfTask = "task" | "title";

/** One word of a background run; those who watch its session hear it as well. */
export interface RunSaid {
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

/** Heard by who listens at the time, and recorded nowhere. */
export type Ephemeral =
  | RunSaid
  | ({ readonly type: "progress"; readonly text: string; readonly kind: string } & Omit<OfCall, "args">)
  | { readonly type: "plugin_event"; readonly plugin: string; readonly call: string; readonly event: Json };

export type Frame =
  | { readonly type: "observed"; readonly cursor: Cursor; readonly at: number; readonly observation: Observation }
  | { readonly type: "ephemeral"; readonly observation: Ephemeral }
  /** What stands from one cursor to the other, both included, was missed; the log may still have it. */
  | { readonly type: "gap"; readonly from: Cursor; readonly to: Cursor };
export type Observed = Extract<Frame, { readonly type: "observed" }>;

const ofCall = ({ call, call_id, tool: name, args }: Of<"observe">): OfCall => ({ call, call_id, name, args });

/** An observation, but for the id that an activity has by where it stands. */
type Unnamed = (id: string) => Observation;

const ofStart = (command: Of<"observe">): readonly Unnamed[] => {
  const { call_id, name, args } = ofCall(command);
  const head = { correlation_id: callCorrelation(call_id), type: "tool_call_started" } as const;
  return [
    () => ({ type: "session_event", event: { type: "tool_call_start", call_id, name, args } }),
    (id) => ({ type: "activity", activity: { id, ...head, call_id, name, args } }),
  ];
};

const ofEnd = (command: Of<"observe">): Unnamed => {
  const { call_id, name, args } = ofCall(command);
  const { output, duration_ms = 0 } = command;
  if (output === undefined) throw new Invariant(`call \`${command.call}\` completed without an output`);
  const head = { correlation_id: callCorrelation(call_id), type: "tool_call_completed" } as const;
  return (id) => ({ type: "activity", activity: { id, ...head, call_id, name, args, output, duration_ms } });
};

const late = (command: Of<"observe">): Unnamed => {
  const { output, duration_ms } = command;
  const ended = { ...(output === undefined ? {} : { output }), ...(duration_ms === undefined ? {} : { duration_ms }) };
  return () => ({ type: "call_settled_late", ...ofCall(command), ...ended });
};

const ofCallCommand = (command: Of<"observe">): readonly Unnamed[] => {
  switch (command.what) {
    case "call_started":
      return ofStart(command);
    case "call_completed":
      return [ofEnd(command)];
    case "call_settled_late":
      return [late(command)];
    case "call_parked":
      return [() => ({ type: "call_parked", ...ofCall(command) })];
  }
};

/** A turn's calls are told of once more when all of them have ended, in their order. */
const ofReply = ({ replies }: Of<"reply">): readonly Unnamed[] =>
  replies.map(({ call_id, tool: name, args, output, duration_ms }) => () => ({
    type: "session_event",
    event: { type: "tool_call", call_id, name, args, output, duration_ms },
  }));

const ofReport = ({ process, attempt }: Of<"run.observe">, event: Event): readonly Unnamed[] => {
  if (event.type !== "run.reported") throw new Invariant(`run \`${process}\` is observed by \`${event.type}\``);
  const { type: _, ...report } = event;
  return [() => ({ type: "run_reported", process, run: runOfAttempt(process, attempt), ...report })];
};

const ofCommand = (command: Command, event: Event): readonly Unnamed[] => {
  switch (command.type) {
    case "observe":
      return ofCallCommand(command);
    case "reply":
      return ofReply(command);
    case "process.observe": {
      const { type: _, ...told } = command;
      return [() => ({ type: "process", ...told })];
    }
    case "task.observe": {
      const { what, task } = command;
      return [() => ({ type: "task", what, task })];
    }
    case "run.observe":
      return ofReport(command, event);
    case "session.tell": {
      const { type: _, ...told } = command;
      return [() => ({ type: "session_told", ...told })];
    }
    default:
      return [];
  }
};

/** What an event and its commands are to an observer. */
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
      observation: observation(uuidOf(stableHash([scope, seq, index]))),
    }));
