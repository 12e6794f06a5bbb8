/** Runs are asked for, begin, report, are lost, end; tasks are made, updated, asked to end, and spoken to. */
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, absurd } from "../kernel/error.ts";
import { processScope } from "../identity/process-scope.ts";
import type { Signal } from "../kernel/signal.ts";
import { failedRun, updateOf } from "./finish.ts";
import { type BackgroundEvent, countedId } from "./model.ts";
import { onArtifacts, onRunBegin, onRunFinish, onRunLost, onRunOvertaken, onRunReported } from "./run.ts";
import {
  beginMonitor,
  monitorsOf,
  noteFire,
  onCancelRequested,
  onPermit,
  onRunRequested,
  onTaskCreated,
  onTaskMessaged,
  onTaskUpdated,
} from "./session.ts";
import { isTerminal, misfitOfUpdate } from "./task.ts";
import { updateTask } from "./tell.ts";

type Of<T extends Signal["type"]> = Extract<Signal, { readonly type: T }>;

export const onBackgroundEvent = (draft: Draft, event: BackgroundEvent): Rejection | undefined => {
  switch (event.type) {
    case "run.requested":
      return onRunRequested(draft, event);
    case "permit.answered":
      return onPermit(draft, event);
    case "run.reported":
      return onRunReported(draft, event);
    case "artifacts.written":
      return onArtifacts(draft, event);
    case "task.created":
      return onTaskCreated(draft, event);
    case "task.updated":
      return onTaskUpdated(draft, event);
    case "task.cancel_requested":
      return onCancelRequested(draft, event);
    case "task.messaged":
      return onTaskMessaged(draft, event);
    default:
      return absurd(event);
  }
};

/** A run's word on its task: taken from its own process alone. */
const onReported = (draft: Draft, { from, task, run, update }: Of<"task.report">): void => {
  const row = draft.work.background.tasks.get(task);
  if (row?.run === undefined || processScope(row.run.run) !== from) return;
  if (misfitOfUpdate(row.task, update) === undefined) updateTask(draft, row, update, run);
};

/** Its process would not begin. */
const onRefused = (draft: Draft, { process, message }: Of<"task.refused">): void => {
  const row = draft.work.background.tasks.values().find(({ run }) => run?.run === process);
  if (row !== undefined && !isTerminal(row.task.state)) updateTask(draft, row, updateOf(failedRun(message), undefined));
};

const onFired = (draft: Draft, { schedule, fire, text, isLast }: Of<"monitor.fired">): void => {
  const rows = monitorsOf(draft, schedule);
  const id = countedId(`tmsg_${schedule.slice(schedule.indexOf("_") + 1)}`, fire);
  for (const row of rows) noteFire(draft, row, { id, text, isLast });
};

const onScheduleEnded = (draft: Draft, { schedule }: Of<"monitor.ended">): void => {
  for (const row of monitorsOf(draft, schedule)) {
    updateTask(draft, row, { state: "canceled", state_detail: "schedule canceled" });
  }
};

type Handled =
  | "run.begin"
  | "run.finish"
  | "run.lost"
  | "run.overtaken"
  | "task.report"
  | "task.refused"
  | "monitor.begin"
  | "monitor.fired"
  | "monitor.ended";

export const onBackgroundSignal = (draft: Draft, signal: Of<Handled>): void => {
  switch (signal.type) {
    case "run.begin":
      return onRunBegin(draft, signal.session);
    case "run.finish":
      return onRunFinish(draft, signal.output);
    case "run.lost":
      return onRunLost(draft);
    case "run.overtaken":
      return onRunOvertaken(draft, signal.status);
    case "task.report":
      return onReported(draft, signal);
    case "task.refused":
      return onRefused(draft, signal);
    case "monitor.begin":
      return beginMonitor(draft, signal.schedule, signal.task);
    case "monitor.fired":
      return onFired(draft, signal);
    case "monitor.ended":
      return onScheduleEnded(draft, signal);
    default:
      return absurd(signal);
  }
};
