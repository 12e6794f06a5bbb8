/**
 * What a runtime and its host log: stable names, ids, codes and durations. No arguments, values or outputs of calls;
 * of internal errors all there is.
 */
import type { ToolCallOutput } from "@pawl/tool-value";
import type { Command } from "@pawl/sansio-core";
import type { HostPort } from "./host/host-request.ts";
import { type Telemetry, bothOf } from "./telemetry.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Every name, and how much it matters. */
export const logLevels = {
  "scope.opened": "info",
  "scope.lost": "info",
  "call.started": "debug",
  "call.parked": "info",
  "call.diverged": "error",
  "call.completed": "info",
  "call.settled_late": "warn",
  "tool.internal_error": "error",
  "store.fault": "error",
  "blobs.swept": "info",
  "host.listening": "info",
  "host.stopped": "info",
  "client.welcomed": "info",
  "client.gone": "info",
  "client.refused": "warn",
  "executor.refused": "warn",
  "host.internal_error": "error",
} as const satisfies { readonly [name: string]: LogLevel };
export type LogName = keyof typeof logLevels;

export interface LogEntry {
  readonly name: LogName;
  readonly level: LogLevel;
  readonly fields: { readonly [field: string]: string | number | boolean };
  /** What was thrown, where something was. */
  readonly thrown?: unknown;
}
export type Log = (entry: LogEntry) => void;

/** Makes a log entry; its level follows from its name. */
export const entryOf = (name: LogName, fields: LogEntry["fields"], thrown?: unknown): LogEntry => ({
  name,
  level: logLevels[name],
  fields,
  ...(thrown === undefined ? {} : { thrown }),
});

const outcomeOf = ({ outcome }: ToolCallOutput): LogEntry["fields"] => {
  const { status } = outcome;
  return status === "failure" ? { status, code: outcome.payload.code } : { status };
};

const namesOf = {
  call_started: "call.started",
  call_parked: "call.parked",
  call_completed: "call.completed",
  call_settled_late: "call.settled_late",
} as const;

const ofCall = (scope: string, command: Extract<Command, { readonly type: "observe" }>): LogEntry => {
  const { what, call, tool, output, duration_ms } = command;
  return entryOf(namesOf[what], {
    scope,
    call,
    tool,
    ...(output === undefined ? {} : outcomeOf(output)),
    ...(duration_ms === undefined ? {} : { duration_ms }),
  });
};

const loggedHost = (log: Log, host: HostPort = {}): HostPort => ({
  ...host,
  observe: (scope, command) => {
    log(ofCall(scope, command));
    host.observe?.(scope, command);
  },
  internalError: (call, thrown, detail) => {
    const where = detail === undefined ? { call } : { call, ...detail };
    log(entryOf("tool.internal_error", where, thrown));
    host.internalError?.(call, thrown, detail);
  },
  fault: (what, thrown) => {
    log(entryOf("store.fault", { what }, thrown));
    host.fault?.(what, thrown);
  },
});

const loggedScopes = (log: Log): Telemetry => ({
  stepped: (scope, { seq, event }) => {
    if (event.type === "scope.opened") {
      const { epoch, owner, protocol } = event;
      log(entryOf("scope.opened", { scope, epoch, owner, protocol, seq }));
    } else if (event.type === "call.diverged") {
      const { call, attempt, run, position, expected, found } = event;
      log(entryOf("call.diverged", { scope, call, attempt, run, position, expected, found }));
    }
  },
  lost: (scope, { message }) => log(entryOf("scope.lost", { scope, why: message })),
});

interface Logging {
  readonly log?: Log;
  readonly host?: HostPort;
  readonly telemetry?: Telemetry;
}

/** The options of a runtime with its log as one who reads along. */
export const logged = <A extends Logging>(options: A): A => {
  const { log, host, telemetry } = options;
  if (log === undefined) return options;
  return { ...options, host: loggedHost(log, host), telemetry: bothOf(telemetry, loggedScopes(log)) };
};
