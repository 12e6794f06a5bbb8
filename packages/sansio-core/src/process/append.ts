/**
 * Appending to a process's log. A replay key that is known answers at once with the event it named; anything else is
 * checked, given its meaning, and takes the next place. The payload's hash and the schema's verdict come in with the
 * request: nothing is hashed or validated here.
 */
import { type Json, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Rejection, type RejectionCode, reject } from "../kernel/error.ts";
import { completionRequest, coreEvent } from "./core-event.ts";
import { eventInvocation } from "../message/invocation.ts";
import {
  type AppendedEvent,
  type ProcessEvent,
  type ProcessEventAppendRequest,
  type ProcessEventSemantics,
  type ProcessEventType,
  type ProcessRow,
  coreMade,
} from "./model.ts";
import { wakeTargetOf } from "./registration.ts";
import { eventIdentityOf, materialize } from "./semantics.ts";
import { countSignal, leaveWait, signalOfType, signalOrdinal } from "./signal.ts";
import { type WakeDelivery, wakeDeliveryOf } from "./wake.ts";

/** A request to append, with what the runtime found out about it. */
export interface ProcessAppend {
  readonly processId: string;
  readonly request: ProcessEventAppendRequest;
  /** Of `[event type, payload]`. */
  readonly payloadHash: string;
  /** Why the payload does not fit its schema, in the words of the validator; absent where it fits. */
  readonly invalid?: string;
  /** The time of the step. */
  readonly at: number;
}

/** Which wait a signal resolves. */
export interface SignalDelivery {
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

/** Whether a request says what its key was first used for. Of an end that the core made the status says it. */
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

const misfitOf = (row: ProcessRow, { processId, request, invalid }: ProcessAppend): string | undefined => {
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
  const misfit = misfitOf(row, append);
  if (misfit !== undefined) return refused(misfit);
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
