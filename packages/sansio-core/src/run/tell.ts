/** What a session hears of its tasks: told to the host until it has it, and shown to whoever watches. */
import type { Draft } from "../kernel/draft.ts";
import { wakeOfUpdate } from "./message.ts";
import { signalText } from "./finish.ts";
import type { TaskRow } from "./model.ts";
import { dropTask, putTask } from "./table.ts";
import { type Task, type TaskUpdate } from "../message/task.ts";
import { applyTaskUpdate, isTerminal } from "./task.ts";

/** A text for the session. */
export const tellSession = (draft: Draft, key: string, text: string): void => {
  if (draft.deletion !== undefined) return; // Nobody is there to hear.
  draft.putOutbox({ type: "session.tell", key, text, born: draft.seq });
  draft.emit({ type: "session.tell", key, text });
};

const words = { succeeded: "completed", failed: "failed", canceled: "canceled" } as const;

/** The end of a run: its place is free again, and its session hears, if it wants to. */
const endRun = (
  draft: Draft,
  { run }: TaskRow,
  { state, display_name: title, summary = "" }: Task,
  name: string,
): void => {
  if (run === undefined || !isTerminal(state)) return;
  draft.emit({ type: "permit.release", run: run.run });
  if (!run.signal) return;
  const text = signalText({ status: words[state], run: name, title, tool: run.tool, summary });
  tellSession(draft, `run:${run.run}`, text);
};

const age = ({ task, born }: TaskRow): number => task.finished_at ?? born;

/** Of more ended ones than are kept the oldest leave. */
const trim = (draft: Draft): void => {
  const ended = draft.work.background.tasks.values().filter(({ task }) => isTerminal(task.state));
  const excess = ended.length - draft.options.max_ended_tasks;
  if (excess <= 0) return;
  const oldest = ended.toSorted((a, b) => age(a) - age(b) || a.born - b.born || (a.task.id < b.task.id ? -1 : 1));
  for (const { task } of oldest.slice(0, excess)) dropTask(draft, task.id);
};

/** A new task. */
export const putNewTask = (draft: Draft, row: TaskRow): void => {
  putTask(draft, row);
  draft.emit({ type: "task.observe", what: "created", task: row.task });
  if (isTerminal(row.task.state)) trim(draft);
};

/** An update that fits. `run`: the name of the attempt that it is of. */
export const updateTask = (draft: Draft, row: TaskRow, update: TaskUpdate, run = row.run?.run ?? ""): void => {
  const before = row.task;
  const task = applyTaskUpdate(before, update, draft.at);
  putTask(draft, { ...row, task });
  draft.emit({ type: "task.observe", what: "updated", task });
  const wake = wakeOfUpdate(before, task, update);
  if (wake !== undefined) tellSession(draft, `task:${task.id}:${draft.seq}:${task.state}`, wake);
  if (isTerminal(before.state) || !isTerminal(task.state)) return;
  endRun(draft, row, task, run);
  trim(draft);
};
