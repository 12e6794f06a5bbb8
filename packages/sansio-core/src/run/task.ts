/** The rules by which a task changes. One place for all of them. */
import {
  type EndState,
  type NewTask,
  type Task,
  type TaskLinks,
  type TaskState,
  type TaskUpdate,
  terminalStates,
} from "../message/task.ts";

export const isTerminal = (state: TaskState): state is EndState =>
  terminalStates.some((terminal) => terminal === state);

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
export const misfitOfUpdate = (task: Task, update: TaskUpdate): "stale_attempt" | "task_ended" | undefined => {
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
  if (misfitOfUpdate(task, update) !== undefined) return task;
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
