/** Tasks: the rules by which they change, their messages, and what a session is told of them. */
import type { Json } from "@pawl/tool-value";
import type { Draft } from "../kernel/draft.ts";
import {
  type EndState,
  type NewTask,
  type Task,
  type TaskLinks,
  type TaskState,
  type TaskUpdate,
  terminalStates,
} from "../message/task.ts";
import { signalText } from "./finish.ts";
import type { Asked, Background, RunRow, TaskRow } from "./model.ts";

/** Returns whether a task in this state is over. */
export const isTerminal = (state: TaskState): state is EndState =>
  terminalStates.some((terminal) => terminal === state);

/** Makes a task as it is recorded, with its id and its times. */
export const createTask = (task: NewTask, session: string, now: number): Task => {
  const { state = "queued", wake_policy = "silent", links = { resource_ids: [] }, ...said } = task;
  return {
    ...said,
    session_id: session,
    state,
    artifacts: [],
    attempt: 1,
    links,
    wake_policy,
    created_at: now,
    ...(state === "queued" ? {} : { started_at: now }),
    ...(isTerminal(state) ? { finished_at: now } : {}),
    updated_at: now,
  };
};

/** Why an update is dropped as a whole, if it is. */
export const problemOfUpdate = (task: Task, update: TaskUpdate): "stale_attempt" | "task_ended" | undefined => {
  const { expected_attempt: expected, state } = update;
  if (expected !== undefined && expected !== task.attempt) return "stale_attempt";
  return isTerminal(task.state) && state !== undefined && state !== task.state ? "task_ended" : undefined;
};

const withoutRequest = (task: Task): Task => {
  const { input_request: _, ...rest } = task;
  return rest;
};

const moved = (task: Task, wanted: TaskState, now: number): Task => {
  const kept = wanted === "awaiting_input" ? task : withoutRequest(task);
  const started = task.state === "queued" && task.started_at === undefined ? { started_at: now } : {};
  const finished = isTerminal(wanted) && task.finished_at === undefined ? { finished_at: now } : {};
  return { ...kept, ...started, ...finished, state: wanted };
};

const mergedLinks = (links: TaskLinks, more: Partial<TaskLinks>): TaskLinks => ({
  ...links,
  ...more,
  resource_ids: [...new Set([...links.resource_ids, ...(more.resource_ids ?? [])])],
});

const contentOf = (update: TaskUpdate): Partial<Task> => {
  const { state_detail, progress, summary, result_path, artifacts, error, worker_id, heartbeat_at } = update;
  return {
    ...(state_detail === undefined ? {} : { state_detail }),
    ...(progress === undefined ? {} : { progress }),
    ...(summary === undefined ? {} : { summary }),
    ...(result_path === undefined ? {} : { result_path }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(error === undefined ? {} : { error }),
    ...(worker_id === undefined ? {} : { worker_id }),
    ...(heartbeat_at === undefined ? {} : { heartbeat_at }),
  };
};

/** The task after an update; the same one where the update is dropped. A request for input overrides any state. */
export const applyTaskUpdate = (task: Task, update: TaskUpdate, now: number): Task => {
  if (problemOfUpdate(task, update) !== undefined) return task;
  const isOver = isTerminal(task.state);
  const asked = isOver ? undefined : update.input_request;
  const wanted = asked === undefined ? update.state : "awaiting_input";
  const counted = update.increment_attempt === true ? { ...task, attempt: task.attempt + 1 } : task;
  const asking = asked === undefined ? counted : { ...counted, input_request: asked };
  const next = wanted === undefined || isOver || wanted === task.state ? asking : moved(asking, wanted, now);
  const links = update.links === undefined ? {} : { links: mergedLinks(task.links, update.links) };
  return { ...next, ...contentOf(update), ...links, updated_at: now };
};

/** The first request to cancel counts; the state stays, until whoever works on it obeys. */
export const requestCancel = (task: Task, now: number): Task =>
  task.cancel_requested_at === undefined ? { ...task, cancel_requested_at: now, updated_at: now } : task;

// Messages between a session and its tasks, and the text that wakes a session when a task moves.

export type MessagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "data"; readonly data: Json };

export interface NewMessage {
  readonly id: string;
  readonly task_id: string;
  /** Inbound: from the session to the task. */
  readonly direction: "inbound" | "outbound";
  readonly content: readonly MessagePart[];
  readonly in_reply_to?: string;
}
export interface TaskMessage extends NewMessage {
  readonly created_at: number;
}

/** How many of a task's newest messages a state keeps; the older ones are in the log. */
export const keptMessages = 20;

/** Words the refusal of an update for an attempt that is over. */
export const staleMessage = (task: Task, expected: number): string =>
  `Stale attempt ${expected} for task ${task.id} (current attempt ${task.attempt})`;

/** The task after a message: an answer to what it waits for lets it go on. */
export const afterMessage = (task: Task, { direction, in_reply_to: reply }: NewMessage, now: number): Task => {
  const isAnswer = direction === "inbound" && reply !== undefined && reply === task.input_request?.id;
  return isAnswer ? applyTaskUpdate(task, { state: "running" }, now) : task;
};

/** The newest messages, oldest first; `after` is exclusive. */
export const listMessages = <M extends { readonly id: string }>(
  messages: readonly M[],
  { limit, after }: { readonly limit?: number; readonly after?: string } = {},
): readonly M[] => {
  const rest = after === undefined ? messages : messages.slice(messages.findIndex(({ id }) => id === after) + 1);
  return limit === undefined ? rest : rest.slice(Math.max(0, rest.length - limit));
};

const named = ({ display_name, id }: Task): string => `Task "${display_name}" (${id})`;

const finishedText = (task: Task): string => {
  const summary = task.summary === undefined ? [] : [`- summary: ${task.summary}`];
  const path = task.result_path === undefined ? [] : [`- result_path: ${task.result_path}`];
  return [`${named(task)} finished: ${task.state}.`, ...summary, ...path].join("\n");
};

/** Words an update that asked for a state and brought it about, for the session, by the task's policy. */
export const wakeOfUpdate = (before: Task, after: Task, update: TaskUpdate): string | undefined => {
  const { state, wake_policy: policy } = after;
  if (policy === "silent" || before.state === state) return undefined;
  if (isTerminal(state)) return update.state === state ? finishedText(after) : undefined;
  if (state !== "awaiting_input" || policy !== "on_activity" || update.input_request === undefined) return undefined;
  return `${named(after)} is awaiting input: ${update.input_request.prompt}`;
};

/** Words a message for the session, by the task's policy. */
export const wakeOfMessage = (task: Task, { direction, content }: Omit<NewMessage, "id">): string | undefined => {
  if (direction !== "outbound" || task.wake_policy !== "on_activity") return undefined;
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return `${named(task)} sent a message: ${text.trim() === "" ? "structured progress update" : text}`;
};

// Rows.

const change = (draft: Draft, part: Partial<Background>): void => {
  draft.set("background", { ...draft.state.background, ...part });
};

export const putTask = (draft: Draft, row: TaskRow): void =>
  change(draft, { tasks: draft.state.background.tasks.set(row.task.id, row) });

const dropTask = (draft: Draft, id: string): void => {
  change(draft, { tasks: draft.state.background.tasks.delete(id) });
  draft.finished.push({ kind: "task", id });
};

export const putAsked = (draft: Draft, row: Asked): void =>
  change(draft, { asked: draft.state.background.asked.set(row.run, row) });

export const dropAsked = (draft: Draft, run: string): void =>
  change(draft, { asked: draft.state.background.asked.delete(run) });

export const setRun = (draft: Draft, run: RunRow): void => change(draft, { run });

// The session hears of its tasks: the host is told until it acknowledges, observers are shown.

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

/** Drops the oldest ended ones where there are more than are kept. */
const trim = (draft: Draft): void => {
  const ended = draft.state.background.tasks.values().filter(({ task }) => isTerminal(task.state));
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
