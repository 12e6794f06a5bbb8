/** Runs and tasks in the scope of their session. */
import { read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { processScope } from "../identity/scope.ts";
import type { Draft } from "../kernel/draft.ts";
import { type Rejection, reject } from "../kernel/error.ts";
import type { EventOf, SignalOf } from "../kernel/vocabulary.ts";
import type { Task } from "../message/task.ts";
import { type ProcessRegistration, coreMade } from "../process/model.ts";
import { RunDefinitionCodec } from "./codec.ts";
import { failedRun, updateOf } from "./finish.ts";
import {
  afterMessage,
  createTask,
  dropAsked,
  isTerminal,
  keptMessages,
  problemOfUpdate,
  putAsked,
  putNewTask,
  putTask,
  requestCancel,
  staleMessage,
  tellSession,
  updateTask,
  wakeOfMessage,
} from "./task.ts";
import {
  type Asked,
  type RunDefinition,
  type TaskRow,
  countedId,
  monitorKind,
  runKind,
  sessionIsFull,
  workerIsFull,
} from "./model.ts";
import { problemOfDeleted } from "../scope/concern.ts";

/** Reads the background run that a registration describes; undefined where it describes none. */
export const definitionOf = ({ identity, input }: ProcessRegistration): RunDefinition | undefined => {
  if (identity.kind !== runKind || input.type !== "tool_call") return undefined;
  const definition = read(RunDefinitionCodec, identity.definition ?? null);
  return E.isRight(definition) ? definition.right : undefined;
};

const problemOfScope = ({ scope, process }: Draft): Rejection | undefined =>
  process === undefined && scope.id.startsWith("session:")
    ? undefined
    : reject("wrong_scope", `tasks and schedules live in sessions, and \`${scope.id}\` is none`);

const found = (draft: Draft, id: string): TaskRow | Rejection =>
  problemOfScope(draft) ?? draft.state.background.tasks.get(id) ?? reject("task_unknown", `no task \`${id}\``);

const isRow = (row: TaskRow | Rejection): row is TaskRow => "task" in row;

const isAsked = (draft: Draft, run: string, task: string): boolean =>
  draft.state.background.asked.values().some((asked) => asked.run === run || asked.definition.task === task);
const isTaken = (draft: Draft, run: string, task: string): boolean =>
  draft.state.background.tasks.has(task) || draft.state.background.tasks.values().some((row) => row.run?.run === run);

export const onRunRequested = (draft: Draft, event: EventOf<"run.requested">): Rejection | undefined => {
  const { registration, hash } = event;
  const run = registration.id;
  const problem = problemOfScope(draft) ?? problemOfDeleted(draft);
  if (problem !== undefined) return problem;
  const definition = definitionOf(registration);
  if (definition === undefined) return reject("process_refused", `process \`${run}\` is no background run`);
  if (isAsked(draft, run, definition.task) || isTaken(draft, run, definition.task)) {
    return reject("run_exists", `run \`${run}\` or task \`${definition.task}\` is there already`);
  }
  putAsked(draft, { run, registration, hash, definition, born: draft.seq });
  draft.emit({ type: "permit.take", run });
  return undefined;
};

const activeRuns = (draft: Draft): number =>
  draft.state.background.tasks.values().filter(({ run, task }) => run !== undefined && !isTerminal(task.state)).length;

const refuse = (draft: Draft, run: string, message: string): void =>
  draft.emit({ type: "spawn.answer", run, answer: { status: "refused", message } });

/** The run has its place on the worker, and in the session: from here it is a task. */
const start = (draft: Draft, { run, registration, hash, definition }: Asked): void => {
  const { task: id, tool, signal_on_completion: signal, ...said } = definition;
  const spec = { tool, ...said, signal_on_completion: signal };
  const made = {
    id,
    kind: runKind,
    display_name: registration.identity.label ?? tool,
    spec,
    state: "running",
  } as const;
  const task = createTask(made, sessionOf(draft), draft.at);
  putNewTask(draft, { task, born: draft.seq, messages: [], run: { run, tool, signal } });
  const message = { type: "process.start", registration, hash } as const;
  draft.raise({ type: "messages.send", to: processScope(run), message, isLast: false });
  draft.emit({ type: "spawn.answer", run, answer: { status: "started", task: id } });
};

const sessionOf = ({ scope }: Draft): string => scope.id.slice("session:".length);

export const onPermit = (draft: Draft, { run, permit }: EventOf<"permit.answered">): Rejection | undefined => {
  const asked = draft.state.background.asked.get(run);
  if (asked === undefined) return reject("run_unknown", `no permit is asked for run \`${run}\``);
  dropAsked(draft, run);
  if (permit.status === "refused") {
    refuse(draft, run, workerIsFull(permit.limit));
    return undefined;
  }
  const { max_runs: max } = draft.options;
  if (activeRuns(draft) < max && draft.deletion === undefined) {
    start(draft, asked);
    return undefined;
  }
  draft.emit({ type: "permit.release", run });
  refuse(draft, run, problemOfDeleted(draft)?.message ?? sessionIsFull(max));
  return undefined;
};

export const onTaskCreated = (draft: Draft, { task }: EventOf<"task.created">): Rejection | undefined => {
  const problem = problemOfScope(draft) ?? problemOfDeleted(draft);
  if (problem !== undefined) return problem;
  if (draft.state.background.tasks.has(task.id) || isAsked(draft, "", task.id)) {
    return reject("task_exists", `task \`${task.id}\` is there already`);
  }
  putNewTask(draft, { task: createTask(task, sessionOf(draft), draft.at), born: draft.seq, messages: [] });
  return undefined;
};

/** How a run ends, and which attempt of it is the current one, is said by its process. */
const isOfProcess = ({ run }: TaskRow, { update }: EventOf<"task.updated">): boolean =>
  run !== undefined && (update.state !== undefined || update.increment_attempt === true);

export const onTaskUpdated = (draft: Draft, event: EventOf<"task.updated">): Rejection | undefined => {
  const { task: id, update } = event;
  const row = found(draft, id);
  if (!isRow(row)) return row;
  const problem = problemOfUpdate(row.task, update);
  if (problem !== undefined) {
    return reject(problem, `task \`${id}\` is ${row.task.state} in attempt ${row.task.attempt}: the update is dropped`);
  }
  if (isOfProcess(row, event)) return reject("wrong_phase", `task \`${id}\` is a run: its process says how it ends`);
  updateTask(draft, row, update);
  return undefined;
};

const canceledMonitor = { state: "canceled", summary: "Monitor canceled" } as const;

export const onCancelRequested = (draft: Draft, event: EventOf<"task.cancel_requested">): Rejection | undefined => {
  const row = found(draft, event.task);
  if (!isRow(row)) return row;
  const { task, run, schedule } = row;
  if (isTerminal(task.state)) return reject("task_ended", `task \`${task.id}\` is ${task.state}`);
  if (task.cancel_requested_at !== undefined) {
    return reject("already_cancelled", `task \`${task.id}\` was asked to end at ${task.cancel_requested_at}`);
  }
  const asked = { ...row, task: requestCancel(task, draft.at) };
  putTask(draft, asked);
  draft.emit({ type: "task.observe", what: "updated", task: asked.task });
  if (run !== undefined) {
    const message = { type: "process.cancel", reason: null, payload_hash: coreMade } as const;
    draft.raise({ type: "messages.send", to: processScope(run.run), message, isLast: false });
  }
  if (schedule === undefined) return undefined;
  updateTask(draft, asked, canceledMonitor);
  draft.raise({ type: "schedule.end", schedule });
  return undefined;
};

const say = (draft: Draft, row: TaskRow, message: EventOf<"task.messaged">["message"]): void => {
  const task = afterMessage(row.task, message, draft.at);
  const messages = [...row.messages, { ...message, created_at: draft.at }].slice(-keptMessages);
  putTask(draft, { ...row, task, messages });
  draft.emit({
    type: "task.observe",
    what: message.direction === "inbound" ? "message_sent" : "message_received",
    task,
  });
  const wake = wakeOfMessage(task, message);
  if (wake !== undefined) tellSession(draft, `task:${task.id}:${draft.seq}:message`, wake);
};

export const onTaskMessaged = (draft: Draft, event: EventOf<"task.messaged">): Rejection | undefined => {
  const { message, expected_attempt: expected } = event;
  const row = found(draft, message.task_id);
  if (!isRow(row)) return row;
  if (expected !== undefined && expected !== row.task.attempt) {
    return reject("stale_attempt", staleMessage(row.task, expected));
  }
  if (row.messages.some(({ id }) => id === message.id)) {
    return reject("already_received", `task \`${message.task_id}\` has the message \`${message.id}\` already`);
  }
  say(draft, row, message);
  return undefined;
};

interface Fire {
  readonly id: string;
  readonly text: string;
  readonly isLast: boolean;
}

/** A monitor's fire: its task says so, and is done, where there will be no other. */
const noteFire = (draft: Draft, row: TaskRow, { id, text, isLast }: Fire): void => {
  say(draft, row, { id, task_id: row.task.id, direction: "outbound", content: [{ type: "text", text }] });
  const noted = draft.state.background.tasks.get(row.task.id);
  if (isLast && noted !== undefined) {
    updateTask(draft, noted, { state: "succeeded", summary: "Scheduled monitor completed" });
  }
};

/** The task of a monitor; where its name is taken there is none, and the schedule stands all the same. */
export const beginMonitor = (
  draft: Draft,
  schedule: string,
  task: Omit<Parameters<typeof createTask>[0], "kind">,
): void => {
  if (draft.state.background.tasks.has(task.id) || isAsked(draft, "", task.id)) return;
  const made: Task = createTask({ ...task, kind: monitorKind, state: "running" }, sessionOf(draft), draft.at);
  putNewTask(draft, { task: made, born: draft.seq, messages: [], schedule });
};

/** The tasks that show a schedule, and are not over. */
const monitorsOf = (draft: Draft, schedule: string): readonly TaskRow[] =>
  draft.state.background.tasks
    .values()
    .filter((row) => row.schedule === schedule && !isTerminal(row.task.state))
    .toSorted((a, b) => a.born - b.born || (a.task.id < b.task.id ? -1 : 1));

/** A run's word on its task: taken from its own process alone. */
export const onReported = (draft: Draft, { from, task, run, update }: SignalOf<"task.report">): void => {
  const row = draft.state.background.tasks.get(task);
  if (row?.run === undefined || processScope(row.run.run) !== from) return;
  if (problemOfUpdate(row.task, update) === undefined) updateTask(draft, row, update, run);
};

/** Its process would not begin. */
export const onRefused = (draft: Draft, { process, message }: SignalOf<"task.refused">): void => {
  const row = draft.state.background.tasks.values().find(({ run }) => run?.run === process);
  if (row !== undefined && !isTerminal(row.task.state)) updateTask(draft, row, updateOf(failedRun(message), undefined));
};

export const onFired = (draft: Draft, { schedule, fire, text, isLast }: SignalOf<"monitor.fired">): void => {
  const rows = monitorsOf(draft, schedule);
  const id = countedId(`tmsg_${schedule.slice(schedule.indexOf("_") + 1)}`, fire);
  for (const row of rows) noteFire(draft, row, { id, text, isLast });
};

export const onScheduleEnded = (draft: Draft, { schedule }: SignalOf<"monitor.ended">): void => {
  for (const row of monitorsOf(draft, schedule)) {
    updateTask(draft, row, { state: "canceled", state_detail: "schedule canceled" });
  }
};
