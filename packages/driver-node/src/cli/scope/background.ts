/** Background runs, tasks and schedules as a person sees them: how far each is. */
import type { ScopeEntry } from "@pawl/runtime";
import {
  ProcessStatus,
  type RunRow,
  type Schedule,
  type State,
  type Task,
  isTerminal,
  processScope,
  type Event,
  type Progress,
} from "@pawl/sansio-core";
import type { JournalFile } from "../journal-file.ts";
import { CliError } from "../exit.ts";
import { stateOf } from "../log/replay-log.ts";
import { untilText } from "./time.ts";

const width = 20;

/** A bar, if it is known how much there is to do, and what it counts. */
export const barOf = ({ current, total, unit = "", label }: Progress): string => {
  const counted = [current, total === undefined ? undefined : `/ ${total}`, unit].filter((part) => part !== undefined);
  const text = [label, counted.join(" ").trim()].filter((part) => part !== undefined && part !== "").join(": ");
  if (current === undefined || total === undefined || total <= 0) return text;
  const full = Math.round(Math.min(1, Math.max(0, current / total)) * width);
  return `[${"#".repeat(full)}${".".repeat(width - full)}] ${text}`;
};

/** What an event says of a run: how far it is; nothing more of it, where it has ended; undefined, where it says nothing. */
export const progressIn = (event: Event): string | undefined => {
  if (event.type === "call.settled" || event.type === "artifacts.written") return "";
  if (event.type !== "run.reported" || event.progress === undefined) return undefined;
  return [barOf(event.progress), event.detail].filter((word) => word !== undefined && word !== "").join("  ");
};

/** A run as the scope that it lives in tells it. */
export interface SeenRun {
  readonly row: RunRow;
  readonly status: ProcessStatus;
}

export const seenIn = ({ background: { run: row }, process }: State): SeenRun | undefined =>
  row && { row, status: process?.status ?? { state: "running" } };

/** The first line of what went wrong: a list has one line for each. */
const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

/** How a process ended, and with what. */
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

/** How a process ended, for a script; nothing of one that goes on. */
export const endJson = (status: ProcessStatus): unknown =>
  status.state === "running" ? undefined : ProcessStatus.encode(status);

export const runJson = ({ row, status }: SeenRun): object => ({ ...row, ended: endJson(status) });

/** How far it is, with a bar where that is known. */
const farText = ({ attempt, detail, progress }: RunRow): string => {
  const bar = progress === undefined ? "" : `  ${barOf(progress)}`;
  const isSaid = attempt === 1 || detail.includes(`attempt ${attempt}`);
  return `${detail}${isSaid ? "" : `, attempt ${attempt}`}${bar}`;
};

export const runText = ({ row, status }: SeenRun): string => {
  const { title, phase, attempt } = row;
  if (phase === "running") return `run ${title}: ${farText(row)}`;
  return `run ${title}: ${phase === "ended" ? endText(status) : phase}${attempt === 1 ? "" : `, attempt ${attempt}`}`;
};

const saidOf = ({ state, state_detail: detail, progress, summary }: Task, run: SeenRun | undefined): string => {
  if (isTerminal(state)) return summary ?? "";
  if (run?.row.phase === "running") return farText(run.row);
  return [detail, progress && barOf(progress)].filter((part) => part !== undefined).join("  ");
};

const taskText = (task: Task, run: SeenRun | undefined): string => {
  const { id, kind, display_name: name, state } = task;
  const said = saidOf(task, run);
  return `task ${name} (${kind}, ${id}): ${state}${said === "" ? "" : `, ${said}`}`;
};

const scheduleText = ({ id, enabled, next_trigger_at: at, trigger_count: count }: Schedule, now: number): string => {
  const next = enabled ? (at === undefined ? "never fires" : `fires ${untilText(at, now)}`) : "over";
  return `schedule ${id}: ${next}; fired ${count === 1 ? "once" : `${count} times`}`;
};

/** The runs of a session's tasks that are not over, by task. */
export type SeenRuns = ReadonlyMap<string, SeenRun>;

/** A line each. */
export const longWorkLines = (state: State, runs: SeenRuns, now: number): readonly string[] => {
  const { background, schedules } = state;
  const own = seenIn(state);
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

/** The run that lives in a scope, if one does; or why nothing can be told of it. */
const runIn = async (journal: JournalFile, scope: string): Promise<SeenRun | CliError | undefined> => {
  if (!scope.startsWith(processScope("bg_"))) return undefined;
  try {
    return seenIn(await stateOf(journal, scope, `${scope} is not read: its values are sealed`));
  } catch (thrown) {
    if (thrown instanceof CliError) return thrown;
    throw thrown;
  }
};

/** Tells the runs of scopes, each read again when there is something new of it. */
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

/** What is not there yet, or can not be read, is left out. */
export const runsOf = async ({ background }: State, journal: JournalFile | undefined): Promise<SeenRuns> => {
  const runs = new Map<string, SeenRun>();
  for (const { task, run } of background.tasks.values()) {
    if (journal === undefined || run === undefined || isTerminal(task.state)) continue;
    const seen = await runIn(journal, processScope(run.run));
    if (seen !== undefined && !(seen instanceof CliError)) runs.set(task.id, seen);
  }
  return runs;
};
