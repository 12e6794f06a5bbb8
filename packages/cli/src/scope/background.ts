/** Background runs, tasks and schedules, as a person reads them. */
import type { ScopeEntry } from "@pawl/runtime/driver";
import type { State, Event } from "@pawl/sansio-core";
import {
  ProcessStatus,
  type RunRow,
  type Schedule,
  type Task,
  isTerminal,
  processScope,
  type Progress,
} from "@pawl/sansio-core/driver";
import type { JournalFile } from "../journal-file.ts";
import { CliError } from "../exit.ts";
import { stateOf } from "../log/replay-log.ts";
import { untilText } from "./time.ts";

const width = 20;

/** Draws a progress bar if the total is known, with the count and its unit. */
export const barOf = ({ current, total, unit = "", label }: Progress): string => {
  const counted = [current, total === undefined ? undefined : `/ ${total}`, unit].filter((part) => part !== undefined);
  const text = [label, counted.join(" ").trim()].filter((part) => part !== undefined && part !== "").join(": ");
  if (current === undefined || total === undefined || total <= 0) return text;
  const full = Math.round(Math.min(1, Math.max(0, current / total)) * width);
  return `[${"#".repeat(full)}${".".repeat(width - full)}] ${text}`;
};

/** Returns a run's progress after an event: "" at its end, undefined if the event says nothing about it. */
export const progressIn = (event: Event): string | undefined => {
  if (event.type === "call.settled" || event.type === "artifacts.written") return "";
  if (event.type !== "run.reported" || event.progress === undefined) return undefined;
  return [barOf(event.progress), event.detail].filter((word) => word !== undefined && word !== "").join("  ");
};

/** A background run, read from its own scope. */
export interface RunView {
  readonly row: RunRow;
  readonly status: ProcessStatus;
}

export const runInState = ({ background: { run: row }, process }: State): RunView | undefined =>
  row && { row, status: process?.status ?? { state: "running" } };

/** Keeps the first line of an error: a list has one line each. */
const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

/** Describes how a process ended. */
export const endText = (status: ProcessStatus): string => {
  if (status.state === "running") return status.state;
  const { await_output: output } = status;
  switch (output.type) {
    case "success":
      return status.state;
    case "failure":
      return `${status.state} (${output.code}): ${firstLine(output.message)}`;
    case "cancelled":
      return `${status.state}: ${firstLine(output.message)}`;
  }
};

/** The end of a process as JSON; undefined while it runs. */
export const endJson = (status: ProcessStatus): unknown =>
  status.state === "running" ? undefined : ProcessStatus.encode(status);

export const runJson = ({ row, status }: RunView): object => ({ ...row, ended: endJson(status) });

/** Describes how far a run is, with a bar if possible. */
const progressText = ({ attempt, detail, progress }: RunRow): string => {
  const bar = progress === undefined ? "" : `  ${barOf(progress)}`;
  const isSaid = attempt === 1 || detail.includes(`attempt ${attempt}`);
  return `${detail}${isSaid ? "" : `, attempt ${attempt}`}${bar}`;
};

export const runText = ({ row, status }: RunView): string => {
  const { title, phase, attempt } = row;
  if (phase === "running") return `run ${title}: ${progressText(row)}`;
  return `run ${title}: ${phase === "ended" ? endText(status) : phase}${attempt === 1 ? "" : `, attempt ${attempt}`}`;
};

const taskDetail = ({ state, state_detail: detail, progress, summary }: Task, run: RunView | undefined): string => {
  if (isTerminal(state)) return summary ?? "";
  if (run?.row.phase === "running") return progressText(run.row);
  return [detail, progress && barOf(progress)].filter((part) => part !== undefined).join("  ");
};

const taskText = (task: Task, run: RunView | undefined): string => {
  const { id, kind, display_name: name, state } = task;
  const said = taskDetail(task, run);
  return `task ${name} (${kind}, ${id}): ${state}${said === "" ? "" : `, ${said}`}`;
};

const scheduleText = ({ id, enabled, next_trigger_at: at, trigger_count: count }: Schedule, now: number): string => {
  const next = enabled ? (at === undefined ? "never fires" : `fires ${untilText(at, now)}`) : "over";
  return `schedule ${id}: ${next}; fired ${count === 1 ? "once" : `${count} times`}`;
};

/** Live runs of a session, by task. */
export type RunViews = ReadonlyMap<string, RunView>;

/** One line for each run, task and schedule. */
export const backgroundLines = (state: State, runs: RunViews, now: number): readonly string[] => {
  const { background, schedules } = state;
  const own = runInState(state);
  return [
    ...(own === undefined ? [] : [runText(own)]),
    ...background.tasks
      .values()
      .toSorted((a, b) => a.born - b.born)
      .map(({ task }) => taskText(task, runs.get(task.id))),
    ...schedules.rows
      .values()
      .toSorted((a, b) => a.born - b.born)
      .map(({ schedule }) => scheduleText(schedule, now)),
  ];
};

/** Reads the run in a scope, if there is one. Returns the error if its log cannot be read. */
const runIn = async (journal: JournalFile, scope: string): Promise<RunView | CliError | undefined> => {
  if (!scope.startsWith(processScope("bg_"))) return undefined;
  try {
    return runInState(await stateOf(journal, scope, `${scope} is not read: its values are sealed`));
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
};

/** Returns a function that reads runs and reads one again only if its scope has new events. */
export const runReader = (journal: JournalFile): ((entry: ScopeEntry) => ReturnType<typeof runIn>) => {
  const known = new Map<string, readonly [seq: number, run: ReturnType<typeof runIn>]>();
  return ({ scope, seq }) => {
    const [of, before] = known.get(scope) ?? [];
    if (before !== undefined && of === seq) return before;
    const run = runIn(journal, scope);
    known.set(scope, [seq, run]);
    return run;
  };
};

/** Reads the runs of live tasks. A run that does not exist yet, or cannot be read, is left out. */
export const runsOf = async ({ background }: State, journal: JournalFile | undefined): Promise<RunViews> => {
  const runs = new Map<string, RunView>();
  for (const { task, run } of background.tasks.values()) {
    if (journal === undefined || run === undefined || isTerminal(task.state)) continue;
    const seen = await runIn(journal, processScope(run.run));
    if (seen !== undefined && !(seen instanceof CliError)) runs.set(task.id, seen);
  }
  return runs;
};
