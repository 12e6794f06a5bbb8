/** The record of runs and tasks, and their invariants: one function each says what is broken, and in which of them. */
import { firstBroken } from "../kernel/error.ts";
import { boolean, list, optional, string, text, u64 } from "@pawl/tool-value";
import type { Check, Concern } from "../concern.ts";
import { type Born, type Command, type State, answered, observed, toCaller } from "../kernel/vocabulary.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import { hasRule } from "../kernel/protocol.ts";
import { ProcessRegistration } from "../message/process.ts";
import { NewTaskCodec, ProgressCodec, TaskUpdateCodec } from "../message/task.ts";
import { NewMessageCodec, OutputCodec, PermitCodec, runSnapshot } from "./codec.ts";
import type { BackgroundEvent, RunCommand, RunRows, RunSignal, TaskRow } from "./model.ts";
import { onArtifacts, onRunBegin, onRunFinish, onRunLost, onRunOvertaken, onRunReported, writing } from "./run.ts";
import {
  beginMonitor,
  onCancelRequested,
  onFired,
  onPermit,
  onRefused,
  onReported,
  onRunRequested,
  onScheduleEnded,
  onTaskCreated,
  onTaskMessaged,
  onTaskUpdated,
} from "./session.ts";
import { isTerminal } from "./task.ts";
import { mostOf } from "../scope/concern.ts";

const firstOf = ({ background: { tasks } }: State, broken: (row: TaskRow) => string | undefined): string | undefined =>
  firstBroken(tasks.values(), (row) => `task \`${row.task.id}\``, broken);

export const checkT1: Check = (state) =>
  firstOf(state, ({ task }) => {
    const { state: now, finished_at: end, input_request: request } = task;
    if (isTerminal(now) !== (end !== undefined)) return `T1: it is ${now}, and its end is at ${end}`;
    return now === "awaiting_input" || request === undefined ? undefined : `T1: it is ${now}, and asks for input`;
  });

export const checkT2: Check = ({ background: { asked, tasks } }) => {
  const doubled = asked
    .values()
    .find(({ run, definition }) =>
      tasks.values().some(({ task, run: known }) => task.id === definition.task || known?.run === run),
    );
  return doubled === undefined ? undefined : `run \`${doubled.run}\`: T2: it is asked for, and has a task`;
};

const active = ({ background: { tasks } }: State): number =>
  tasks.values().filter(({ run, task }) => run !== undefined && !isTerminal(task.state)).length;

export const checkT3Change = (before: State, after: State): string | undefined => {
  const max = mostOf("max_runs", before, after);
  return active(after) <= Math.max(max, active(before)) ? undefined : `T3: ${active(after)} runs of ${max}`;
};

const changed = (was: TaskRow, is: TaskRow | undefined): string | undefined => {
  if (is?.born !== was.born) return undefined; // The oldest of the ended tasks leave; their names may come again.
  if (is.task.attempt < was.task.attempt) return `T4: attempt ${is.task.attempt} came after ${was.task.attempt}`;
  if (!isTerminal(was.task.state)) return undefined;
  return is.task.state === was.task.state && is.task.finished_at === was.task.finished_at
    ? undefined
    : `T4: ${was.task.state} became ${is.task.state}`;
};

export const checkT4Change = (before: State, after: State): string | undefined =>
  firstOf(before, (was) => changed(was, after.background.tasks.get(was.task.id)));

const ended = ({ background: { tasks } }: State): number =>
  tasks.values().filter(({ task }) => isTerminal(task.state)).length;

export const checkT5Change = (before: State, after: State): string | undefined => {
  const max = mostOf("max_ended_tasks", before, after);
  return ended(after) <= Math.max(max, ended(before)) ? undefined : `T5: ${ended(after)} ended tasks of ${max}`;
};

export const checkT6: Check = ({ background: { run }, process }) => {
  if (run === undefined) return process?.run === "artifacts" ? "T6: a process waits for files of no run" : undefined;
  if (process === undefined) return "T6: a run of no process";
  const isOver = process.status.state !== "running";
  if (isOver !== (run.phase === "ended")) return `T6: the run is ${run.phase}, its process ${process.status.state}`;
  const isFinishing = run.phase === "finishing";
  if (isFinishing !== (process.run === "artifacts")) return `T6: the run is ${run.phase}, its process's ${process.run}`;
  if (isFinishing && run.outcome === undefined) return "T6: it finishes without an outcome";
  return run.phase === "ended" && run.outcome !== undefined ? "T6: it has ended, and keeps its outcome" : undefined;
};

export const checkT7: Check = ({ background: { run }, scope: { protocol } }) => {
  if (run === undefined) return undefined;
  const mayBeginAgain = run.definition.reattachable || hasRule(protocol, "lost_runs");
  return run.attempt >= 1 && (run.attempt === 1 || mayBeginAgain)
    ? undefined
    : `T7: attempt ${run.attempt} of a run that is ${run.definition.reattachable ? "" : "not "}run again`;
};

const backgroundChecks: readonly Check[] = [checkT1, checkT2, checkT6, checkT7];
export const backgroundChangeChecks = [checkT3Change, checkT4Change, checkT5Change] as const;

const first = (command: Command): Born => ({ born: 0, index: 0, command });

const ofRuns = ({ background: { asked, run }, process }: State): Born[] => {
  const permits = asked.values().map(({ run: name, born }): Born => ({
    born,
    index: 0,
    command: { type: "permit.take", run: name },
  }));
  if (run?.phase !== "finishing" || process === undefined) return permits;
  return [...permits, first(writing(process.registration.id, run))];
};

export const run: Concern<RunRows, BackgroundEvent["type"], RunSignal["type"], RunCommand["type"]> = {
  name: "run",
  events: {
    "run.requested": { fields: { registration: ProcessRegistration, hash: string }, on: onRunRequested },
    "permit.answered": { fields: { run: string, permit: PermitCodec }, on: onPermit },
    "run.reported": {
      fields: {
        attempt: u64,
        detail: optional(text),
        progress: optional(ProgressCodec),
        output: list(OutputCodec),
      },
      on: onRunReported,
    },
    "artifacts.written": { fields: { attempt: u64, written: boolean }, on: onArtifacts },
    "task.created": { fields: { task: NewTaskCodec }, on: onTaskCreated },
    "task.updated": { fields: { task: string, update: TaskUpdateCodec }, on: onTaskUpdated },
    "task.cancel_requested": { fields: { task: string }, on: onCancelRequested },
    "task.messaged": { fields: { message: NewMessageCodec, expected_attempt: optional(u64) }, on: onTaskMessaged },
  },
  signals: {
    "run.begin": { raises: [], on: (draft, { session }) => onRunBegin(draft, session) },
    "run.finish": { raises: [], on: (draft, { output, cause }) => onRunFinish(draft, output, cause) },
    "run.lost": { raises: ["messages.send", "batches.cancel"], on: onRunLost },
    "run.overtaken": { raises: ["messages.send"], on: (draft, { status }) => onRunOvertaken(draft, status) },
    "task.report": { raises: [], on: onReported },
    "task.refused": { raises: [], on: onRefused },
    "monitor.begin": { raises: [], on: (draft, { schedule, task }) => beginMonitor(draft, schedule, task) },
    "monitor.fired": { raises: [], on: onFired },
    "monitor.ended": { raises: [], on: onScheduleEnded },
  },
  commands: {
    "permit.take": { tag: 40, duty: answered("permit.answered"), digest: (lanes, command) => lanes.text(command.run) },
    "permit.release": {
      tag: 41,
      duty: { performed: "durable", afterLoss: "never", answeredBy: undefined },
      digest: (lanes, command) => lanes.text(command.run),
    },
    "spawn.answer": {
      tag: 42,
      duty: toCaller,
      digest: (lanes, command) => lanes.text(command.run).text(command.answer.status),
    },
    "artifacts.write": {
      tag: 43,
      duty: { performed: "durable", afterLoss: "again", answeredBy: "artifacts.written" },
      digest: (lanes, command) =>
        lanes.text(command.process).text(command.run).number(command.attempt).text(command.outcome.type),
    },
    "task.observe": {
      tag: 45,
      duty: observed,
      digest: (lanes, command) =>
        lanes.text(command.what).text(command.task.id).text(command.task.state).number(command.task.attempt),
    },
    "run.observe": {
      tag: 46,
      duty: observed,
      digest: (lanes, command) => lanes.text(command.process).number(command.attempt),
    },
  },
  outstanding: ofRuns,
  isAtWork: (state) => ofRuns(state).length > 0,
  checks: backgroundChecks,
  snapshot: runSnapshot,
  rows: { background: { tasks: PersistentMap.empty(), asked: PersistentMap.empty(), run: undefined } },
};
