/** The invariants of a process, one function each: what is broken, if anything. */
import type { Check } from "../concern.ts";
import { isBlank, processScope, signalEventType, signalWaitKey } from "../identity/scope.ts";
import { coreEventTypes, envProblem, typesProblem } from "./registration.ts";
import type { State } from "../kernel/vocabulary.ts";
import { type ProcessRow, agentTurn } from "./model.ts";
import { signalOfType } from "./signal.ts";

type ProcessCheck = (row: ProcessRow) => string | undefined;

const declares = ({ registration }: ProcessRow, eventType: string): boolean =>
  registration.event_types.some(({ name }) => name === eventType);

const prefixed = (invariant: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `${invariant}: ${problem}`;

export const checkP1: ProcessCheck = ({ registration }) =>
  isBlank(registration.id) ? "P1: a process has a blank id" : prefixed("P1", envProblem(registration));

export const checkP2: ProcessCheck = (row) => {
  const missing = coreEventTypes.find(({ name }) => !declares(row, name));
  return missing === undefined
    ? prefixed("P2", typesProblem(row.registration))
    : `P2: \`${missing.name}\` is not declared`;
};

export const checkP3: ProcessCheck = ({ replays, sequence }) => {
  const places = replays.values().map(({ seq }) => seq);
  const outside = places.find((seq) => seq < 1 || seq > sequence);
  if (outside !== undefined) return `P3: a replay entry names place ${outside} of ${sequence}`;
  return new Set(places).size === places.length ? undefined : "P3: two replay keys name one place";
};

export const checkP4: ProcessCheck = (row) => {
  const invalid = row.signals.keys().find((type) => signalOfType(type) === undefined || !declares(row, type));
  if (invalid !== undefined) return `P4: \`${invalid}\` is counted, and is no declared signal`;
  const count = row.signals.values().reduce((sum, n) => sum + n, 0);
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

export const checkP8: Check = ({ process: row, requests }) => {
  if (row === undefined) return undefined;
  const { run, status, registration } = row;
  if (status.state !== "running" && (run === "env" || run === "artifacts" || run === "engine"))
    return `P8: ${status.state}, and its run is ${run}`;
  if (status.state === "running" && run === "none") return "P8: it runs, and nothing does";
  const request = requests.at(registration.id);
  if (run === "call" && request?.phase !== "running") return `P8: its call is ${request?.phase ?? "gone"}`;
  const turn = requests.at(agentTurn);
  if (run === "turn" && turn?.phase !== "running") return `P8: its turn is ${turn?.phase ?? "gone"}`;
  return undefined;
};

export const checkP9: Check = ({ process: row }) => {
  if (row === undefined) return undefined;
  const { peers, status } = row;
  if (status.state !== "running" && peers.length > 0)
    return `P9: ${status.state}, and ${peers.length} peers are not told`;
  const scopes = new Set(peers.map(({ scope }) => scope));
  if (scopes.size !== peers.length) return `P9: ${peers.length} peers in ${scopes.size} scopes`;
  const twice = peers.find(({ waits }) => new Set(waits).size !== waits.length);
  return twice === undefined ? undefined : `P9: \`${twice.scope}\` waits twice for one key`;
};

export const checkP10: Check = ({ process: row, scope }) => {
  if (row === undefined) return undefined;
  const home = processScope(row.registration.id);
  return scope.id === home ? undefined : `P10: it is in \`${scope.id}\`, expected \`${home}\``;
};

/** A process has one end: it does not change, and none goes on after it. */
export const checkP11Change = (before: State, after: State): string | undefined => {
  const was = before.process;
  if (was === undefined || was.status.state === "running") return undefined;
  return after.process?.status === was.status
    ? undefined
    : `P11: ${was.status.state} became ${after.process?.status.state}`;
};

export const checkP12: ProcessCheck = ({ wakesNobody, registration }) =>
  wakesNobody && registration.wake_target === undefined ? "P12: it wakes nobody any more, and never did" : undefined;

export const checkP12Change = (before: State, after: State): string | undefined =>
  before.process?.wakesNobody === true && after.process?.wakesNobody === false
    ? "P12: it wakes again whom it woke no more"
    : undefined;

const ofRow =
  (check: ProcessCheck): Check =>
  ({ process: row }) =>
    row === undefined ? undefined : check(row);

export const processStateChecks: readonly Check[] = [
  ...[...processChecks, checkP12].map(ofRow),
  checkP8,
  checkP9,
  checkP10,
];
export const processChangeChecks = [checkP11Change, checkP12Change] as const;
