/**
 * Background runs, and the tasks by which a session knows its long work. A run is a process that executes one tool:
 * its task lives in the session that asked for it, its status, output and end in the scope of the process.
 *
 *   in the session   asked ─▶ permitted ─▶ [task: running] ─▶ succeeded | failed | canceled
 *                      └────▶ refused: too many on the worker, or in the session
 *
 *   in the process   running ─▶ finishing ─▶ ended
 *                    │     ▲    (its files are written; then the task hears, then the process ends)
 *                    ▼     │
 *                    [its owner went: the next attempt, if its tool may run again and does not crash in a loop]
 *
 * Who speaks for a run names its attempt; what an older attempt says is refused. Whether a cancel or a finish came
 * first is the order of the log: of a run that is asked to end before its call is over, no output is a success.
 *
 * Invariants
 *   T1  a task that is over has an end time, and no other has one; only one that waits for input has a request for it
 *   T2  a run that is asked for has no task yet
 *   T3  no step leaves more runs active than are allowed, unless there were more before
 *   T4  an end stays, and attempts only grow
 *   T5  tasks that are over are kept up to a bound, unless there were more before
 *   T6  a run belongs to its process: it finishes while the process waits for its files, and has ended when that has
 *   T7  a run's attempts are counted from 1; in protocol 1 only a run that is marked for it has more than one
 */
import type { Json, ToolCallOutput } from "@pawl/tool-value";
import type { PersistentMap } from "../kernel/persistent-map.ts";
import type { UnknownCause } from "../call/model.ts";
import type { ProcessRegistration, ProcessStatus } from "../process/model.ts";
import type { Filled, Output, RunOutcome } from "./finish.ts";
import type { NewMessage, TaskMessage } from "./task.ts";
import type { NewTask, Progress, Task, TaskUpdate } from "../message/task.ts";

/** A process that is a background run, as the definition in its identity describes it. */
export interface RunDefinition {
  readonly task: string;
  readonly tool: string;
  readonly arguments: Json;
  /** Run again after its owner was lost. From protocol 2 on the tool's recovery decides. */
  readonly reattachable: boolean;
  readonly signal_on_completion: boolean;
}

/** The kind of such processes, and of their tasks. */
export const runKind = "background_tool";
export const monitorKind = "monitor";

/** A run whose permit is asked of the driver. */
export interface Asked {
  readonly run: string;
  readonly registration: ProcessRegistration;
  readonly hash: string;
  readonly definition: RunDefinition;
  readonly born: number;
}

/** For a task that is a run: what its session is told at the end. */
export interface TaskRun {
  readonly run: string;
  readonly tool: string;
  readonly signal: boolean;
}

export interface TaskRow {
  readonly task: Task;
  readonly born: number;
  readonly messages: readonly TaskMessage[];
  readonly run?: TaskRun;
  /** For a monitor. */
  readonly schedule?: string;
}

/** A run in the scope of its process. */
export interface RunRow {
  readonly definition: RunDefinition;
  readonly title: string;
  /** The session that asked for it. */
  readonly session?: string;
  readonly phase: "running" | "finishing" | "ended";
  readonly attempt: number;
  readonly detail: string;
  readonly progress?: Progress;
  readonly filled: Filled;
  /** While its files are written; a lost run has it before its call is over. */
  readonly outcome?: RunOutcome;
}

/** A report of a run since its last one: coalesced by its driver, at most once a second. */
export interface Report {
  readonly attempt: number;
  readonly detail?: string;
  readonly progress?: Progress;
  readonly output: readonly Output[];
}

export type Permit = { readonly status: "granted" } | { readonly status: "refused"; readonly limit: number };

export type BackgroundEvent =
  | { readonly type: "run.requested"; readonly registration: ProcessRegistration; readonly hash: string }
  | { readonly type: "permit.answered"; readonly run: string; readonly permit: Permit }
  | ({ readonly type: "run.reported" } & Report)
  | { readonly type: "artifacts.written"; readonly attempt: number; readonly written: boolean }
  | { readonly type: "task.created"; readonly task: NewTask }
  | { readonly type: "task.updated"; readonly task: string; readonly update: TaskUpdate }
  | { readonly type: "task.cancel_requested"; readonly task: string }
  | { readonly type: "task.messaged"; readonly message: NewMessage; readonly expected_attempt?: number };

/** A monitor, for the task that shows it. */
export interface NewMonitor {
  readonly task: string;
  readonly title: string;
  readonly tool: string;
  readonly arguments: Json;
  readonly signal_on_completion: boolean;
}

/** The answer to a request for a run. */
export type SpawnAnswer =
  | { readonly status: "started"; readonly task: string }
  | { readonly status: "refused"; readonly message: string };

/** Words the refusal of a background run beyond the session's limit. */
export const sessionIsFull = (limit: number): string =>
  `Maximum ${limit} active background runs per session. Wait for an existing run to finish before starting another.`;
/** Words the refusal of a background run beyond the worker's limit. */
export const workerIsFull = (limit: number): string =>
  `Worker is already running the maximum ${limit} active background runs. Try again after an existing run finishes.`;

const width = 12;

/** An id that ends in hexadecimal digits, counted on: derived, of the same form, and another for every count. */
export const countedId = (id: string, count: number): string => {
  const digits = id.slice(-width);
  const counted = (parseInt(digits, 16) + count) % 16 ** width;
  return Number.isNaN(counted) ? `${id}${count}` : id.slice(0, -width) + counted.toString(16).padStart(width, "0");
};

/** The name of a run's attempt, and of the folder with its files; the first is that of its process. */
export const runOfAttempt = (run: string, attempt: number): string =>
  attempt === 1 ? run : countedId(run, attempt - 1);

type EndedStatus = Exclude<ProcessStatus, { readonly state: "running" }>;

/** Signals that runs and tasks hear. */
export type RunSignal =
  /** A process begins; `session`: the one that asked for it. */
  | { readonly type: "run.begin"; readonly session: string | undefined }
  /** The call of a background run is over. `cause`: why its outcome is unknown. */
  | { readonly type: "run.finish"; readonly output: ToolCallOutput; readonly cause?: UnknownCause | undefined }
  /** The call of a background run has lost its owner. */
  | { readonly type: "run.lost" }
  /** The process of a background run was ended by someone else. */
  | { readonly type: "run.overtaken"; readonly status: EndedStatus }
  | {
      readonly type: "task.report";
      readonly from: string;
      readonly task: string;
      readonly run: string;
      readonly update: TaskUpdate;
    }
  /** The process of a task would not begin. */
  | { readonly type: "task.refused"; readonly process: string; readonly message: string }
  | { readonly type: "monitor.begin"; readonly schedule: string; readonly task: Omit<NewTask, "kind"> }
  | {
      readonly type: "monitor.fired";
      readonly schedule: string;
      readonly fire: number;
      readonly text: string;
      readonly isLast: boolean;
    }
  | { readonly type: "monitor.ended"; readonly schedule: string };

/** Commands of runs and tasks. */
export type RunCommand =
  /** A run wants, or gives back, its place among those of the worker. */
  | { readonly type: "permit.take"; readonly run: string }
  | { readonly type: "permit.release"; readonly run: string }
  /** Tells the caller that asked for a run. */
  | { readonly type: "spawn.answer"; readonly run: string; readonly answer: SpawnAnswer }
  /** The two files of a run's attempt are to be written, from all that it reported. */
  | {
      readonly type: "artifacts.write";
      readonly process: string;
      readonly run: string;
      readonly attempt: number;
      readonly outcome: RunOutcome;
    }
  | {
      readonly type: "task.observe";
      readonly what: "created" | "updated" | "message_sent" | "message_received";
      readonly task: Task;
    }
  | { readonly type: "run.observe"; readonly process: string; readonly attempt: number };

/** Runs and tasks in a state. */
export interface Background {
  /** In a session. */
  readonly tasks: PersistentMap<string, TaskRow>;
  readonly asked: PersistentMap<string, Asked>;
  /** Set in the scope of a process. */
  readonly run: RunRow | undefined;
}

/** Its rows in a state. */
export interface RunRows {
  readonly background: Background;
}
