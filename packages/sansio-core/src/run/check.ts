/** The invariants of runs and tasks, one function each: what is broken, and in which of them. */
import type { Check } from "../concern.ts";
import { mostOf } from "../scope/check.ts";
import type { State } from "../kernel/state.ts";
import type { TaskRow } from "./model.ts";
import { isTerminal } from "./task.ts";

const firstOf = (
  { background: { tasks } }: State,
  broken: (row: TaskRow) => string | undefined,
): string | undefined => {
  for (const row of tasks.values()) {
    const what = broken(row);
    if (what !== undefined) return `task \`${row.task.id}\`: ${what}`;
  }
  return undefined;
};

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
  if (is?.born !== was.born) return undefined; // Of tasks that are over, the oldest leave; their names may come again.
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

export const checkT7: Check = ({ background: { run } }) => {
  if (run === undefined) return undefined;
  return run.attempt >= 1 && (run.attempt === 1 || run.definition.reattachable)
    ? undefined
    : `T7: attempt ${run.attempt} of a run that is ${run.definition.reattachable ? "" : "not "}run again`;
};

export const backgroundChecks: readonly Check[] = [checkT1, checkT2, checkT6, checkT7];
export const backgroundChangeChecks = [checkT3Change, checkT4Change, checkT5Change] as const;
