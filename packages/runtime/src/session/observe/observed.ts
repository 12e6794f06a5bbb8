/** Observations, made of the commands that the events of a scope produced: live and from the log the same. */
import { type CommandOf, type Command, type Event, Invariant } from "@pawl/sansio-core";
import { runOfAttempt } from "@pawl/sansio-core/driver";
import type { OfCall, Observation, Observed } from "./observation.ts";
import type { Cause } from "../../scope/runner.ts";

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
