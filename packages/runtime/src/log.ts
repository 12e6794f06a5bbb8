/**
 * What a runtime and its host log: stable names, ids, codes and durations. No arguments, values or outputs of calls;
 * of internal errors all there is.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Command, type Event, type EventOf, type State, recordedOf } from "@pawl/sansio-core";
import type { Journal } from "./journal/journal.ts";
import type { Cause } from "./scope/runner.ts";
import { readText } from "./json.ts";
import type { ToolCallOutput } from "@pawl/tool-value";
import type { HostPort } from "./host/host-request.ts";

/** It must not throw, and holds up every event by what it takes. */
export interface Telemetry {
  /** An event was stepped, with what follows from it; it may not be durable yet. */
  readonly stepped: (scope: string, cause: Cause, commands: readonly Command[]) => void;
  /** A request whose caller has no span is about to be stepped: the span to be recorded with it, if there is one. */
  readonly begins?: (scope: string, request: string) => string | undefined;
  /** A scope was claimed: the spans that were recorded with its live requests, by request. */
  readonly resumes?: (scope: string, spans: ReadonlyMap<string, string>) => void;
  /** The scope is not this runtime's any more, or never was. */
  readonly lost: (scope: string, error: Error) => void;
}

export const bothOf = (one: Telemetry | undefined, other: Telemetry): Telemetry =>
  one === undefined
    ? other
    : {
        stepped: (...of) => {
          one.stepped(...of);
          other.stepped(...of);
        },
        begins: (...of) => one.begins?.(...of) ?? other.begins?.(...of),
        resumes: (...of) => {
          one.resumes?.(...of);
          other.resumes?.(...of);
        },
        lost: (...of) => {
          one.lost(...of);
          other.lost(...of);
        },
      };

type Submitted = EventOf<"request.submitted" | "flow.submitted">;

/** What is recorded of a request, with a span to go on from in another process. */
export const withSpan = <A extends Submitted>(telemetry: Telemetry | undefined, scope: string, event: A): A => {
  if (event.type !== "request.submitted" || event.traceparent !== undefined) return event;
  const traceparent = telemetry?.begins?.(scope, event.request);
  return traceparent === undefined ? event : { ...event, traceparent };
};

/** The same event as it is recorded, with the same span. */
export const spannedAs = (event: Event, kept: Event): Event =>
  event.type === "request.submitted" && kept.type === event.type && event.traceparent !== undefined
    ? { ...kept, traceparent: event.traceparent }
    : kept;

const spanIn = (line: string): string | undefined => {
  const read = readText(line, recordedOf);
  return E.isRight(read) && read.right.event.type === "request.submitted" ? read.right.event.traceparent : undefined;
};

/** Tells who reads along of the spans that were recorded; what retention has cut is not told. */
export const tellSpans = async (
  { telemetry, journal }: { readonly telemetry?: Telemetry; readonly journal: Journal },
  { scope: { id }, requests }: State,
): Promise<void> => {
  if (telemetry?.resumes === undefined || requests.size === 0) return;
  const spans = new Map<string, string>();
  for (const { request, born } of requests.rows()) {
    const [first] = await journal.read(id, born, born);
    const span = first && spanIn(first.line);
    if (span !== undefined) spans.set(request, span);
  }
  telemetry.resumes(id, spans);
};

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
