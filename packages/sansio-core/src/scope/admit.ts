/** Admits an event by its envelope: its place in the log, its time, and a scope that takes events. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { Envelope, EventType } from "../kernel/event.ts";
import type { State } from "../kernel/state.ts";

const whileMoving: ReadonlySet<EventType> = new Set(["scope.opened", "scope.received", "scope.moved", "scope.kept"]);

const problemOfStatus = ({ scope }: State, type: EventType): Rejection | undefined => {
  if (scope.epoch === 0) {
    if (type === "scope.opened") return undefined;
    return reject("scope_not_opened", `the first event of a log is scope.opened, found ${type}`);
  }
  if (scope.status.type === "moved") {
    return reject("scope_has_moved", `this copy of the scope moved away and is read-only, found ${type}`);
  }
  if (scope.status.type === "moving" && !whileMoving.has(type)) {
    return reject("scope_is_moving", `the scope moves to ${scope.status.to} and accepts nothing more, found ${type}`);
  }
  return undefined;
};

export const admit = (state: State, { seq, at, event }: Envelope): Rejection | undefined => {
  if (seq !== state.seq + 1) return reject("sequence_mismatch", `expected sequence ${state.seq + 1}, found ${seq}`);
  if (at < state.at) return reject("time_went_back", `scope time is ${state.at}, found the earlier ${at}`);
  return problemOfStatus(state, event.type);
};

/** Why nothing more is taken, if the session is deleted. */
export const problemOfDeleted = ({ deletion, scope }: Draft): Rejection | undefined =>
  deletion === undefined ? undefined : reject("session_deleted", `\`${scope.id}\` was deleted`);
