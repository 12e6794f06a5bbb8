/**
 * Observers of a runtime: `Log` gets entries with stable names, `Telemetry` every event as it is stepped, for traces. Entries have
 * ids, codes and durations; no arguments, values or outputs of calls. Internal errors are logged in full.
 */
import * as E from "fp-ts/lib/Either.js";
import { type CommandOf, type Command, type Event, type EventOf, type State, recordedOf } from "@pawl/sansio-core";
import { crashWords, divergenceWords } from "@pawl/sansio-core/driver";
import type { Journal } from "./journal/journal.ts";
import type { Cause } from "./scope/runner.ts";
import { readText } from "./encoding.ts";
import type { ToolCallOutput } from "@pawl/tool-value";
import type { HostPort } from "./host/host.ts";

/** Reads along. Its methods must not throw, and every event waits for them. */
export interface Telemetry {
  /** Called after each step, with the commands of the event, which may not be durable yet, and the state after it. */
  readonly stepped: (scope: string, cause: Cause, commands: readonly Command[], state: State) => void;
  /** Returns the span to record with a request whose caller has none. */
  readonly begins?: (scope: string, request: string) => string | undefined;
  /** Called after a claim, with the recorded spans of the live requests. */
  readonly resumes?: (scope: string, spans: ReadonlyMap<string, string>) => void;
  /** Called when this runtime does not own the scope, or not any more. */
  readonly lost: (scope: string, error: Error) => void;
}

const bothOf = (one: Telemetry | undefined, other: Telemetry): Telemetry =>
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

type Submitted = EventOf<"request.submitted" | "flow.submitted" | "turn.submitted">;

/** Adds a span to a request, to continue from in another process. */
export const withSpan = <A extends Submitted>(telemetry: Telemetry | undefined, scope: string, event: A): A => {
  if (event.type === "flow.submitted" || event.traceparent !== undefined) return event;
  const traceparent = telemetry?.begins?.(scope, event.request);
  return traceparent === undefined ? event : { ...event, traceparent };
};

/** Says if an event may have the span of its caller. */
const isSpanned = (event: Event): event is EventOf<"request.submitted" | "turn.submitted"> =>
  event.type === "request.submitted" || event.type === "turn.submitted";

/** Copies the span of an event to the event as it is recorded. */
export const spannedAs = (event: Event, kept: Event): Event =>
  isSpanned(event) && isSpanned(kept) && event.traceparent !== undefined
    ? { ...kept, traceparent: event.traceparent }
    : kept;

const spanIn = (line: string): string | undefined => {
  const read = readText(line, recordedOf);
  return E.isRight(read) && isSpanned(read.right.event) ? read.right.event.traceparent : undefined;
};

/** Passes the recorded spans to telemetry; lines that retention deleted are left out. */
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

/** Every name with its level. */
export const logLevels = {
  "scope.opened": "info",
  "scope.lost": "info",
  "call.started": "debug",
  "call.parked": "info",
  "call.decided": "info",
  "call.unknown": "warn",
  "call.crashed": "warn",
  "call.diverged": "error",
  "call.completed": "info",
  "call.settled_late": "warn",
  "call.effects_left": "warn",
  "effect.unheard": "warn",
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
  /** The value that was thrown, if any. */
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
  call_decided: "call.decided",
  call_unknown: "call.unknown",
  call_completed: "call.completed",
  call_settled_late: "call.settled_late",
  call_crashed: "call.crashed",
} as const;

type Observe = CommandOf<"observe">;

/** Describes a crash in a row of them: "resumes in 5 s: 5 crashes in a row, last in step `hotel`". */
const fieldsOfCrash = ({ count, resumes_in_ms: ms, step }: NonNullable<Observe["crash"]>): LogEntry["fields"] => {
  const next = ms === undefined ? "is parked" : ms === 0 ? "resumes at once" : `resumes in ${ms / 1000} s`;
  return {
    crashes: count,
    ...(ms === undefined ? {} : { resumes_in_ms: ms }),
    ...(step === undefined ? {} : { step }),
    message: `${next}: ${crashWords(count, step)}`,
  };
};

const ofCall = (scope: string, { what, call, tool, output, cause, duration_ms, crash, decided }: Observe): LogEntry =>
  entryOf(namesOf[what], {
    scope,
    call,
    tool,
    ...(output === undefined ? {} : outcomeOf(output)),
    ...(cause === undefined ? {} : { cause }),
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(crash === undefined ? {} : fieldsOfCrash(crash)),
    ...decided,
  });

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
  unheard: (failure) => {
    log(entryOf("effect.unheard", { ...failure }));
    host.unheard?.(failure);
  },
  fault: (what, thrown) => {
    log(entryOf("store.fault", { what }, thrown));
    host.fault?.(what, thrown);
  },
});

/** Says in plain words what changed code asked for, and which fields of its input differ: paths, and no values. */
const ofDivergence = (
  scope: string,
  event: EventOf<"call.diverged">,
  commands: readonly Command[],
): LogEntry["fields"] => {
  const { call, attempt, run, position, expected, found, version, differs } = event;
  const [tool] = commands.flatMap((command) => ("tool" in command ? command.tool : []));
  const paths = differs?.fields?.map(({ path }) => path).join(", ");
  return {
    scope,
    call,
    attempt,
    run,
    position,
    expected,
    found,
    ...(version === undefined ? {} : { version }),
    ...(paths === undefined ? {} : { differs: paths }),
    message: `the code of ${tool === undefined ? "its tool" : `tool \`${tool}\``} ${differs?.actedOn === undefined ? "changed" : "cannot be repeated"}: ${divergenceWords(event)}`,
  };
};

const loggedScopes = (log: Log): Telemetry => ({
  stepped: (scope, { seq, event }, commands) => {
    if (event.type === "scope.opened") {
      const { epoch, owner, protocol } = event;
      log(entryOf("scope.opened", { scope, epoch, owner, protocol, seq }));
    } else if ((event.type === "call.settled" || event.type === "call.continued") && event.left !== undefined) {
      log(entryOf("call.effects_left", { scope, call: event.call, left: event.left.join(", "), seq }));
    } else if (event.type === "call.diverged") {
      log(entryOf("call.diverged", ofDivergence(scope, event, commands)));
    }
  },
  lost: (scope, { message }) => log(entryOf("scope.lost", { scope, why: message })),
});

interface Logging {
  readonly log?: Log;
  readonly host?: HostPort;
  readonly telemetry?: Telemetry;
}

/** Connects the log of a runtime's options to its host port and telemetry. */
export const logged = <A extends Logging>(options: A): A => {
  const { log, host, telemetry } = options;
  if (log === undefined) return options;
  return { ...options, host: loggedHost(log, host), telemetry: bothOf(telemetry, loggedScopes(log)) };
};
