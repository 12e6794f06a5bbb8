/** Signals: named messages to a process that it may wait for, in their order. */
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Rejection, reject } from "../kernel/error.ts";
import { signalEventType, signalKey, signalWaitKey } from "../identity/scope.ts";
import type { ProcessEventAppendRequest, ProcessRow, SignalWait } from "./model.ts";

const signalName = /^[A-Za-z0-9_-]+$/;
const signalPrefix = signalEventType("");

const refused = (message: string): E.Either<Rejection, never> => E.left(reject("process_refused", message));

/** A name that signals may have. */
export const checkSignalName = (name: string): E.Either<Rejection, string> => {
  if (signalName.test(name)) return E.right(name);
  const rule = "must be non-empty and contain only ASCII letters, digits, `_`, or `-`";
  return refused(`process signal name ${rule}, got \`${name}\``);
};

/** The signal that events of a type are, if they are one. */
export const signalOfType = (eventType: string): string | undefined =>
  eventType.startsWith(signalPrefix) ? eventType.slice(signalPrefix.length) : undefined;

/** Signalling a process twice under one id is signalling it once. */
export interface Signal {
  readonly processId: string;
  readonly name: string;
  readonly signalId: string;
  readonly payload: Json;
}
/** Turns a signal into an event to append to its process, or rejects it. */
export const signalRequest = (signal: Signal): E.Either<Rejection, ProcessEventAppendRequest> =>
  E.map((name: string) => ({
    event_type: signalEventType(name),
    payload: signal.payload,
    replay: { key: signalKey(signal.processId, name, signal.signalId) },
  }))(checkSignalName(signal.name));

/** The wait that the next event of a type resolves, if it is a signal: the one that goes on, or else that of its number. */
export const signalOrdinal = ({ wait, signals }: ProcessRow, eventType: string): number | undefined => {
  if (signalOfType(eventType) === undefined) return undefined;
  return wait?.kind.event_type === eventType ? wait.kind.ordinal : (signals.get(eventType) ?? 0) + 1;
};

/** A signal came; a wait for it is over, so that the next signal is not taken for the same. */
export const countSignal = (row: ProcessRow, eventType: string, at: number): ProcessRow => {
  const signals = row.signals.set(eventType, (row.signals.get(eventType) ?? 0) + 1);
  return { ...(row.wait?.kind.event_type === eventType ? leaveWait(row, at) : row), signals };
};

const signalWait = (processId: string, name: string, ordinal: number): SignalWait => ({
  kind: "signal",
  name,
  event_type: signalEventType(name),
  key: signalWaitKey(processId, name, ordinal),
  ordinal,
});

/** A running process starts to wait for a signal. */
export const enterWait = (
  row: ProcessRow,
  name: string,
  ordinal: number,
  at: number,
): E.Either<Rejection, ProcessRow> => {
  const { id, event_types } = row.registration;
  const kind = signalWait(id, name, ordinal);
  if (row.status.state !== "running") return refused(`process \`${id}\` is already terminal`);
  const isDeclared = event_types.some((type) => type.name === kind.event_type);
  if (!isDeclared) return refused(`process \`${id}\` does not declare event type \`${kind.event_type}\``);
  if (ordinal < 1) return refused(`process \`${id}\` counts signals from 1`);
  return E.right({ ...row, wait: { kind, since_ms: at }, updatedAt: at });
};

/** Ends the wait. */
export const leaveWait = (row: ProcessRow, at: number): ProcessRow => {
  const { wait, ...rest } = row;
  return wait === undefined ? row : { ...rest, updatedAt: at };
};
