/** Observations, made of the commands that the events of a scope produced: live and from the log the same. */
import { type CommandOf, type Command, type Event, Invariant } from "@pawl/sansio-core";
import { type UnknownCause, runOfAttempt } from "@pawl/sansio-core/driver";
import { callCorrelation, stableHash } from "@pawl/tool-value";
import { uuidOf } from "../../body/facet/context.ts";
import type { OfCall, Observation, Observed } from "./observation.ts";
import type { Cause } from "../../scope/runner.ts";

const ofCall = ({ call, call_id: label, tool, args }: CommandOf<"observe">): OfCall => ({ call, tool, label, args });

/** An observation without its id, which follows from its position. */
type Unnamed = (id: string) => Observation;

const ofStart = (command: CommandOf<"observe">): readonly Unnamed[] => {
  const { call_id, tool: name, args } = command;
  const head = { correlation_id: callCorrelation(call_id), type: "tool_call_started" } as const;
  return [
    () => ({ type: "session_event", event: { type: "tool_call_start", call_id, name, args } }),
    (id) => ({ type: "activity", activity: { id, ...head, call_id, name, args } }),
  ];
};

const because = (cause: UnknownCause | undefined): { readonly cause?: UnknownCause } =>
  cause === undefined ? {} : { cause };

const ofEnd = (command: CommandOf<"observe">): Unnamed => {
  const { call_id, tool: name, args } = command;
  const { output, cause, duration_ms = 0 } = command;
  if (output === undefined) throw new Invariant(`call \`${command.call}\` completed without an output`);
  const head = { correlation_id: callCorrelation(call_id), type: "tool_call_completed" } as const;
  const activity = { ...head, call_id, name, args, output, duration_ms };
  return (id) => ({ type: "activity", activity: { id, ...activity }, ...because(cause) });
};

const late = (command: CommandOf<"observe">): Unnamed => {
  const { output, duration_ms: durationMs } = command;
  const ended = { ...(output === undefined ? {} : { output }), ...(durationMs === undefined ? {} : { durationMs }) };
  return () => ({ type: "call_settled_late", ...ofCall(command), ...ended });
};

const decision =
  (command: CommandOf<"observe">, decided: NonNullable<CommandOf<"observe">["decided"]>): Unnamed =>
  () => ({ type: "call_decided", ...ofCall(command), ...decided });

const ofCallCommand = (command: CommandOf<"observe">): readonly Unnamed[] => {
  switch (command.what) {
    case "call_started":
      return ofStart(command);
    case "call_completed":
      return [ofEnd(command)];
    case "call_settled_late":
      return [late(command)];
    case "call_parked":
      return [() => ({ type: "call_parked", ...ofCall(command) })];
    case "call_decided":
      return command.decided === undefined ? [] : [decision(command, command.decided)];
    case "call_unknown":
      return [() => ({ type: "call_unknown", ...ofCall(command), cause: command.cause ?? "owner_lost" })];
    case "call_crashed":
      return []; // Only the host is told: its log warns.
  }
};

/** Lists the calls of a request once more when all of them have ended, in their order. */
const ofReply = ({ replies }: CommandOf<"reply">): readonly Unnamed[] =>
  replies.map(({ call_id, tool: name, args, output, cause, duration_ms }) => () => ({
    type: "session_event",
    event: { type: "tool_call", call_id, name, args, output, duration_ms },
    ...because(cause),
  }));

const ofReport = ({ process, attempt }: CommandOf<"run.observe">, event: Event): readonly Unnamed[] => {
  if (event.type !== "run.reported") throw new Invariant(`run \`${process}\` is observed by \`${event.type}\``);
  return [() => ({ ...event, type: "run_reported", process, run: runOfAttempt(process, attempt) })];
};

const ofCommand = (command: Command, event: Event): readonly Unnamed[] => {
  switch (command.type) {
    case "observe":
      return ofCallCommand(command);
    case "reply":
      return ofReply(command);
    case "process.observe":
      return [() => ({ ...command, type: "process" })];
    case "task.observe":
      return [() => ({ ...command, type: "task" })];
    case "run.observe":
      return ofReport(command, event);
    case "session.tell":
      return [() => ({ ...command, type: "session_told" })];
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
      observation: observation(uuidOf(stableHash([scope, seq, index]))),
    }));
