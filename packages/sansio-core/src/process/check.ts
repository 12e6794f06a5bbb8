/** The invariants of a process, one function each: what is broken, if anything. */
import { isBlank } from "../key/blank.ts";
import { signalEventType, signalWaitKey } from "../key/process.ts";
import { coreEventTypes } from "./core-event.ts";
import type { ProcessRow } from "./model.ts";
import { envMisfit, typesMisfit } from "./registration.ts";
import { signalOfType } from "./signal.ts";

export type ProcessCheck = (row: ProcessRow) => string | undefined;

const declares = ({ registration }: ProcessRow, eventType: string): boolean =>
  registration.event_types.some(({ name }) => name === eventType);

const prefixed = (invariant: string, misfit: string | undefined): string | undefined =>
  misfit === undefined ? undefined : `${invariant}: ${misfit}`;

export const checkP1: ProcessCheck = ({ registration }) =>
  isBlank(registration.id) ? "P1: a process has a blank id" : prefixed("P1", envMisfit(registration));

export const checkP2: ProcessCheck = (row) => {
  const missing = coreEventTypes.find(({ name }) => !declares(row, name));
  return missing === undefined
    ? prefixed("P2", typesMisfit(row.registration))
    : `P2: \`${missing.name}\` is not declared`;
};

export const checkP3: ProcessCheck = ({ replays, sequence }) => {
  const places = [...replays.values()].map(({ seq }) => seq);
  const outside = places.find((seq) => seq < 1 || seq > sequence);
  if (outside !== undefined) return `P3: a replay entry names place ${outside} of ${sequence}`;
  return new Set(places).size === places.length ? undefined : "P3: two replay keys name one place";
};

export const checkP4: ProcessCheck = (row) => {
  const stray = [...row.signals.keys()].find((type) => signalOfType(type) === undefined || !declares(row, type));
  if (stray !== undefined) return `P4: \`${stray}\` is counted, and is no declared signal`;
  const count = [...row.signals.values()].reduce((sum, n) => sum + n, 0);
  return count <= row.sequence ? undefined : `P4: ${count} signals in ${row.sequence} events`;
};

export const checkP5: ProcessCheck = ({ status, wait, sequence }) => {
  if (status.state === "running") return undefined;
  if (sequence === 0) return `P5: ${status.state} without an event`;
  return wait === undefined ? undefined : `P5: ${status.state}, and waits for \`${wait.kind.name}\``;
};

export const checkP6: ProcessCheck = (row) => {
  if (row.wait === undefined) return undefined;
  const { name, event_type, key, ordinal } = row.wait.kind;
  if (event_type !== signalEventType(name) || !declares(row, event_type)) {
    return `P6: waits for \`${event_type}\`, which is not declared as a signal \`${name}\``;
  }
  if (ordinal < 1) return `P6: waits for signal number ${ordinal}`;
  const expected = signalWaitKey(row.registration.id, name, ordinal);
  return key === expected ? undefined : `P6: a wait is called \`${key}\`, expected \`${expected}\``;
};

export const checkP7: ProcessCheck = ({ createdAt, updatedAt }) =>
  updatedAt >= createdAt ? undefined : `P7: updated at ${updatedAt}, made at ${createdAt}`;

export const processChecks: readonly ProcessCheck[] = [checkP1, checkP2, checkP3, checkP4, checkP5, checkP6, checkP7];
