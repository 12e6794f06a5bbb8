/** Registering a process: what it has to say of itself, and the event types that every process has. */
import { type Json, at as jsonAt } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type SessionScope, isBlank, terminalKey } from "../identity/scope.ts";
import { type Rejection, absurd, reject } from "../kernel/error.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { CausalRef } from "../message/invocation.ts";
import { ProcessAwaitOutput } from "../message/process.ts";
import type {
  EventTypeSemantics,
  ProcessEventAppendRequest,
  ProcessEventType,
  ProcessIdentity,
  ProcessInput,
  ProcessOriginator,
  ProcessProvenance,
  ProcessRecord,
  ProcessRegistration,
  ProcessRow,
  TerminalState,
} from "./model.ts";

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
const terminalType = (state: TerminalState): ProcessEventType =>
  anyPayload(coreEvent[state], { terminal: { state, await_output: { pointer: "/await_output" } } });

export const coreEventTypes: readonly ProcessEventType[] = [
  anyPayload(coreEvent.cancelRequested),
  anyPayload(coreEvent.waiting),
  anyPayload(coreEvent.resumed),
  terminalType("completed"),
  terminalType("failed"),
  terminalType("cancelled"),
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

// Registering. The hash of a registration is the runtime's.

const firstText = (json: Json, pointers: readonly string[]): string | undefined =>
  pointers.map((pointer) => jsonAt(pointer, json)).find((found) => typeof found === "string");

const identity = (kind: string, label: string | undefined): ProcessIdentity =>
  label === undefined ? { kind } : { kind, label };

/** How a process is shown whose registrant does not say. */
export const identityOf = (input: ProcessInput): ProcessIdentity => {
  switch (input.type) {
    case "tool_call":
      return identity("tool", input.call.tool_name);
    case "engine":
      return identity(input.kind, undefined);
    case "session_turn":
      return identity(
        "session_turn",
        firstText(input.create_request, ["/subagent/capability", "/usage_source", "/session_id"]),
      );
    case "external":
      return identity("external", firstText(input.metadata, ["/label", "/name", "/title"]));
    default:
      return absurd(input);
  }
};

/** On whose behalf a process runs, and whom it wakes. */
export interface Start {
  readonly provenance: ProcessProvenance;
  readonly wake_target?: SessionScope;
}

const startOf = (
  originator: ProcessOriginator,
  wakeTarget: SessionScope | undefined,
  causedBy: CausalRef | undefined,
): Start => ({
  provenance: { originator, ...(causedBy === undefined ? {} : { caused_by: causedBy }) },
  ...(wakeTarget === undefined ? {} : { wake_target: wakeTarget }),
});

/** A session that starts a process is its originator, and is woken by it. */
export const startedBySession = (scope: SessionScope, causedBy?: CausalRef): Start =>
  startOf({ type: "session", scope }, scope, causedBy);

/** Returns the session that a process wakes, as long as that session is there. */
export const wakeTargetOf = ({ registration, wakesNobody }: ProcessRow): SessionScope | undefined =>
  wakesNobody ? undefined : registration.wake_target;

/** A process that starts another hands on its own. */
export const startedByProcess = (row: ProcessRow, causedBy?: CausalRef): Start =>
  startOf(row.registration.provenance.originator, wakeTargetOf(row), causedBy);

/** A registration with the event types that every process has. */
export const completeRegistration = (registration: ProcessRegistration): ProcessRegistration => {
  const names = new Set(registration.event_types.map(({ name }) => name));
  const missing = coreEventTypes.filter(({ name }) => !names.has(name));
  return { ...registration, event_types: [...registration.event_types, ...missing] };
};

const needsEnv: { readonly [T in ProcessInput["type"]]: boolean } = {
  tool_call: true,
  engine: true,
  session_turn: false,
  external: false,
};

/** Returns what is wrong with the environment that a process captured, or did not. */
export const envProblem = ({ id, input, env_ref }: ProcessRegistration): string | undefined => {
  const isNeeded = needsEnv[input.type];
  if (isNeeded === (env_ref !== undefined)) return undefined;
  return isNeeded
    ? `process \`${id}\` requires a captured execution env`
    : `process \`${id}\` must not capture an execution env for this input kind`;
};

const typeProblem = (id: string, type: ProcessEventType, earlier: ReadonlySet<string>): string | undefined => {
  if (isBlank(type.name)) return `process \`${id}\` event type names must be non-empty strings`;
  if (earlier.has(type.name)) return `process \`${id}\` declares event type \`${type.name}\` more than once`;
  const { terminal } = type.semantics;
  const isMute = terminal !== undefined && terminal.state !== "completed" && terminal.await_output === undefined;
  return isMute ? `process \`${id}\` terminal event type \`${type.name}\` must declare await_output` : undefined;
};

/** Returns what is wrong with the event types that a process declares. */
export const typesProblem = ({ id, event_types }: ProcessRegistration): string | undefined => {
  const names = new Set<string>();
  for (const type of event_types) {
    const problem = typeProblem(id, type, names);
    if (problem !== undefined) return problem;
    names.add(type.name);
  }
  return undefined;
};

/** A registration that a process can be made of, core types added: what the runtime hashes. */
export const checkRegistration = (registration: ProcessRegistration): E.Either<Rejection, ProcessRegistration> => {
  const blank = isBlank(registration.id) ? "process id must be a non-empty string" : undefined;
  const problem = blank ?? envProblem(registration) ?? typesProblem(registration);
  return problem === undefined
    ? E.right(completeRegistration(registration))
    : E.left(reject("process_refused", problem));
};

export interface Registered {
  readonly row: ProcessRow;
  /** Registered already, with the same registration. */
  readonly isReplay: boolean;
}

const created = (registration: ProcessRegistration, hash: string, at: number): ProcessRow => ({
  registration,
  hash,
  createdAt: at,
  updatedAt: at,
  status: { state: "running" },
  sequence: 0,
  replays: PersistentMap.empty(),
  signals: PersistentMap.empty(),
  run: "none",
  cancelled: false,
  peers: [],
  wakesNobody: false,
});

/** Makes a process, or finds the one that the same registration made. `hash` is that of the completed registration. */
export const register = (
  row: ProcessRow | undefined,
  registration: ProcessRegistration,
  hash: string,
  at: number,
): E.Either<Rejection, Registered> => {
  const checked = checkRegistration(registration);
  if (E.isLeft(checked)) return checked;
  if (row === undefined) return E.right({ row: created(checked.right, hash, at), isReplay: false });
  if (row.hash === hash) return E.right({ row, isReplay: true });
  const message = `process \`${registration.id}\` registration hash conflict: existing ${row.hash}, new ${hash}`;
  return E.left(reject("process_conflict", message));
};

/** A process as it is read from outside. */
export const recordOf = (row: ProcessRow): ProcessRecord => {
  const { registration, externalRef, wait } = row;
  const { id, wake_target: _, ...said } = registration;
  const wakeTarget = wakeTargetOf(row);
  return {
    id,
    registration_hash: row.hash,
    ...said,
    ...(wakeTarget === undefined ? {} : { wake_target: wakeTarget }),
    created_at_ms: row.createdAt,
    updated_at_ms: row.updatedAt,
    ...(externalRef === undefined ? {} : { external_ref: externalRef }),
    ...(wait === undefined ? {} : { wait }),
    status: row.status,
  };
};
