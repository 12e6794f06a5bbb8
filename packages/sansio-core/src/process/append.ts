/**
 * Appending to a process's log. A replay key that is known answers at once with the event it named; anything else is
 * checked, given its meaning, and takes the next place. The payload's hash and the schema's verdict come in with the
 * request: nothing is hashed or validated here.
 */
import { type Json, render, select, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type SessionScope, sessionScopeId } from "../identity/scope.ts";
import { type Rejection, type RejectionCode, reject } from "../kernel/error.ts";
import { eventInvocation } from "../message/invocation.ts";
import { completionRequest, coreEvent, wakeTargetOf } from "./registration.ts";
import {
  type AppendedEvent,
  type EventTypeSemantics,
  type ProcessEvent,
  type ProcessEventAppendRequest,
  type ProcessEventSemantics,
  type ProcessEventType,
  type ProcessRow,
  type TerminalSpec,
  type WakeDedupe,
  type WakeSpec,
  coreMade,
} from "./model.ts";
import { awaitOutputOf, wrapOutput } from "./output.ts";
import { countSignal, leaveWait, signalOfType, signalOrdinal } from "./signal.ts";

type Terminal = NonNullable<ProcessEventSemantics["terminal"]>;
type Wake = NonNullable<ProcessEventSemantics["wake"]>;

/** Returns whether a condition holds: every number does, the empty and the absent do not. */
export const isTruthy = (json: Json): boolean => {
  if (json === null || json === false || json === "") return false;
  if (typeof json !== "object") return true;
  return Array.isArray(json) ? json.length > 0 : Object.keys(json).length > 0;
};

const terminalOf = ({ state, await_output }: TerminalSpec, payload: Json): E.Either<string, Terminal> => {
  if (await_output === undefined) return E.right({ state, await_output: wrapOutput(state, payload) });
  const selected = select(await_output, payload);
  return E.isLeft(selected) ? selected : E.right({ state, await_output: awaitOutputOf(state, selected.right) });
};

/** Returns the key that tells a wake from others: the event's own name, a part of its payload, or a fixed text. */
export const dedupeKeyOf = (dedupe: WakeDedupe, payload: Json, eventIdentity: string): E.Either<string, string> => {
  if (dedupe === "event_identity") return E.right(eventIdentity);
  return "const" in dedupe ? E.right(dedupe.const) : E.map(render)(select(dedupe.selector, payload));
};

const wakeOf = (spec: WakeSpec, payload: Json, eventIdentity: string): E.Either<string, Wake | undefined> => {
  const when = spec.when === undefined ? E.right<string, Json>(true) : select(spec.when, payload);
  if (E.isLeft(when)) return when;
  if (!isTruthy(when.right)) return E.right(undefined);
  const input = select(spec.input, payload);
  if (E.isLeft(input)) return input;
  const dedupeKey = dedupeKeyOf(spec.dedupe_key, payload, eventIdentity);
  if (E.isLeft(dedupeKey)) return dedupeKey;
  return E.right({ input: render(input.right), dedupe_key: dedupeKey.right });
};

/** How an event is told apart from all others. */
export const eventIdentityOf = (processId: string, sequence: number): string => `${processId}:${sequence}`;

/** The meaning of a payload under the semantics of its type; a selector that finds nothing is an error. */
export const materialize = (
  { terminal, wake }: EventTypeSemantics,
  payload: Json,
  eventIdentity: string,
): E.Either<string, ProcessEventSemantics> => {
  const end = terminal === undefined ? E.right(undefined) : terminalOf(terminal, payload);
  if (E.isLeft(end)) return end;
  const woken = wake === undefined ? E.right(undefined) : wakeOf(wake, payload, eventIdentity);
  if (E.isLeft(woken)) return woken;
  return E.right({
    ...(end.right === undefined ? {} : { terminal: end.right }),
    ...(woken.right === undefined ? {} : { wake: woken.right }),
  });
};

// A wake: a session is told of its process's event, once. Its id is a hash, and the runtime's.

export interface WakeDelivery {
  readonly target: SessionScope;
  readonly process_id: string;
  readonly sequence: number;
  readonly event_type: string;
  readonly input: string;
  /** Under the target: a wake with the same key was told already. */
  readonly dedupe_key: string;
}

/** Names a wake in the outbox, and afterwards in the finished index. */
export const wakeKey = ({ target, dedupe_key }: Pick<WakeDelivery, "target" | "dedupe_key">): string =>
  `wake:${sessionScopeId(target)}:${dedupe_key}`;

/** The wake that an event makes, where it makes one and there is somebody to wake. */
const wakeDeliveryOf = (event: ProcessEvent, target: SessionScope | undefined): WakeDelivery | undefined => {
  const { wake } = event.semantics;
  if (wake === undefined || target === undefined) return undefined;
  const { process_id, sequence, event_type } = event;
  return { target, process_id, sequence, event_type, input: wake.input, dedupe_key: wake.dedupe_key };
};

/** A wake as a model reads it. */
export const wakeText = (wake: Omit<WakeDelivery, "target" | "dedupe_key">): string =>
  [
    "Background process wake",
    `Process: ${wake.process_id}`,
    `Event: ${wake.event_type} #${wake.sequence}`,
    "Wake input:",
    wake.input,
  ].join("\n");

/** A request to append, with what the runtime found out about it. */
export interface ProcessAppend {
  readonly processId: string;
  readonly request: ProcessEventAppendRequest;
  /** The hash of `[event type, payload]`. */
  readonly payloadHash: string;
  /** Why the payload does not fit its schema, in the words of the validator; absent where it fits. */
  readonly invalid?: string;
  /** The time of the step. */
  readonly at: number;
}

/** Which wait a signal resolves. */
interface SignalDelivery {
  readonly name: string;
  readonly ordinal: number;
}

export interface Appended {
  readonly row: ProcessRow;
  readonly event: ProcessEvent;
  /** The event stood in the log already. */
  readonly isReplay: boolean;
  readonly wake?: WakeDelivery;
  readonly signal?: SignalDelivery;
}

type Result<A> = E.Either<Rejection, A>;

const refused = (message: string, code: RejectionCode = "process_refused"): E.Either<Rejection, never> =>
  E.left(reject(code, message));

const semanticsOf = (
  { registration }: ProcessRow,
  { event_type, payload }: ProcessEventAppendRequest,
  sequence: number,
): E.Either<string, ProcessEventSemantics> => {
  const type = registration.event_types.find(({ name }) => name === event_type);
  return materialize(type?.semantics ?? {}, payload, eventIdentityOf(registration.id, sequence));
};

export const eventOf = (
  { processId, request }: ProcessAppend,
  { seq, at }: Pick<AppendedEvent, "seq" | "at">,
  semantics: ProcessEventSemantics,
): ProcessEvent => ({
  process_id: processId,
  sequence: seq,
  event_type: request.event_type,
  payload: request.payload,
  invocation: eventInvocation(processId, seq, request.event_type, request.replay),
  semantics,
  occurred_at: { secs_since_epoch: Math.floor(at / 1000), nanos_since_epoch: (at % 1000) * 1_000_000 },
});

/** The status that an event brings about: the first terminal one ends the process, and its wait. */
const ended = (row: ProcessRow, { terminal }: ProcessEventSemantics, at: number): ProcessRow =>
  terminal === undefined || row.status.state !== "running"
    ? row
    : { ...leaveWait(row, at), status: terminal, updatedAt: at };

const delivered = (
  row: ProcessRow,
  append: ProcessAppend,
  event: ProcessEvent,
  stored: { readonly isReplay: boolean; readonly ordinal: number | undefined },
): Appended => {
  const wake = wakeDeliveryOf(event, append.request.wake_target_scope ?? wakeTargetOf(row));
  const name = signalOfType(event.event_type);
  return {
    row,
    event,
    isReplay: stored.isReplay,
    ...(wake === undefined ? {} : { wake }),
    ...(name === undefined || stored.ordinal === undefined ? {} : { signal: { name, ordinal: stored.ordinal } }),
  };
};

const isEqual = (a: Json, b: Json): boolean => stringify(a) === stringify(b);

/** Returns whether a request says what its key was first used for. For an end that the core made, the status tells. */
const isSame = ({ registration, status }: ProcessRow, append: ProcessAppend, stored: AppendedEvent): boolean => {
  if (stored.hash !== coreMade) return stored.hash === append.payloadHash;
  if (status.state === "running") return false;
  const { event_type, payload } = completionRequest(registration.id, status.await_output);
  return append.request.event_type === event_type && isEqual(append.request.payload, payload);
};

/** The same key again: the stored event, its wake once more, and the status it had to bring about. */
const replayed = (row: ProcessRow, append: ProcessAppend, stored: AppendedEvent): Result<Appended> => {
  const { processId, request } = append;
  if (!isSame(row, append, stored)) {
    const message = `process \`${processId}\` event replay key \`${request.replay?.key}\` conflicts with an existing event`;
    return refused(message, "process_conflict");
  }
  const semantics = semanticsOf(row, request, stored.seq);
  if (E.isLeft(semantics)) return refused(semantics.left);
  const event = eventOf(append, stored, semantics.right);
  return E.right(
    delivered(ended(row, semantics.right, append.at), append, event, { isReplay: true, ordinal: stored.ordinal }),
  );
};

const needsKey = ({ name, semantics }: ProcessEventType): boolean =>
  semantics.terminal !== undefined || name === coreEvent.cancelRequested;

const problemOf = (row: ProcessRow, { processId, request, invalid }: ProcessAppend): string | undefined => {
  const { event_type, replay } = request;
  const type = row.registration.event_types.find(({ name }) => name === event_type);
  if (type === undefined) return `process \`${processId}\` emitted undeclared event type \`${event_type}\``;
  if (needsKey(type) && (replay?.key ?? "") === "") {
    return `process \`${processId}\` event \`${event_type}\` requires a deterministic replay key`;
  }
  return invalid === undefined ? undefined : `invalid \`${event_type}\` payload: ${invalid}`;
};

/** The row after an event that took the next place, and is known again by its key. */
const written = (
  row: ProcessRow,
  { request, payloadHash, at }: ProcessAppend,
  ordinal: number | undefined,
): ProcessRow => {
  const next = ordinal === undefined ? row : countSignal(row, request.event_type, at);
  const seq = row.sequence + 1;
  const entry: AppendedEvent = { hash: payloadHash, seq, at, ...(ordinal === undefined ? {} : { ordinal }) };
  const replays = request.replay === undefined ? row.replays : row.replays.set(request.replay.key, entry);
  return { ...next, sequence: seq, updatedAt: at, replays };
};

const appended = (row: ProcessRow, append: ProcessAppend): Result<Appended> => {
  const problem = problemOf(row, append);
  if (problem !== undefined) return refused(problem);
  const { request, processId, at } = append;
  const seq = row.sequence + 1;
  const semantics = semanticsOf(row, request, seq);
  if (E.isLeft(semantics)) return refused(semantics.left);
  if (semantics.right.terminal !== undefined && row.status.state !== "running") {
    return refused(`process \`${processId}\` is already terminal`);
  }
  const ordinal = signalOrdinal(row, request.event_type);
  const next = ended(written(row, append, ordinal), semantics.right, at);
  return E.right(delivered(next, append, eventOf(append, { seq, at }, semantics.right), { isReplay: false, ordinal }));
};

/** Appends an event to a process's log, or finds it there. */
export const appendEvent = (row: ProcessRow | undefined, append: ProcessAppend): Result<Appended> => {
  if (row === undefined) return refused(`unknown process \`${append.processId}\``, "process_unknown");
  const key = append.request.replay?.key;
  const stored = key === undefined ? undefined : row.replays.get(key);
  return stored === undefined ? appended(row, append) : replayed(row, append, stored);
};
