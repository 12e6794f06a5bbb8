/** A task's record: how a session keeps its long work, and how a run tells of it. */
import {
  type Codec,
  type Json,
  array,
  boolean,
  codecFrom,
  defaulted,
  json,
  list,
  oneOf,
  optional,
  record,
  refuse,
  string,
  text,
  u64,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

const activeStates = ["queued", "running", "awaiting_input"] as const;
export const terminalStates = ["succeeded", "failed", "canceled"] as const;
type ActiveState = (typeof activeStates)[number];
export type EndState = (typeof terminalStates)[number];
export type TaskState = ActiveState | EndState;
export type WakePolicy = "silent" | "on_terminal" | "on_activity";

export interface Progress {
  readonly current?: number;
  readonly total?: number;
  readonly unit?: string;
  readonly label?: string;
}
export interface InputRequest {
  readonly id: string;
  readonly prompt: string;
  readonly expected?: Json;
}
export interface Artifact {
  readonly name: string;
  readonly type: string;
  readonly path?: string;
  readonly url?: string;
}
/** Timeout, rejection and loss are kinds of errors, not states. */
export interface TaskError {
  readonly kind: string;
  readonly message: string;
}
export interface TaskLinks {
  readonly child_session_id?: string;
  readonly remote_task_id?: string;
  readonly resource_ids: readonly string[];
}

/** Times are scope time, in milliseconds. */
export interface Task {
  readonly id: string;
  readonly session_id: string;
  readonly kind: string;
  readonly display_name: string;
  readonly spec: Json;
  readonly state: TaskState;
  readonly state_detail?: string;
  readonly progress?: Progress;
  readonly input_request?: InputRequest;
  readonly cancel_requested_at?: number;
  readonly summary?: string;
  readonly result_path?: string;
  readonly artifacts: readonly Artifact[];
  readonly error?: TaskError;
  readonly attempt: number;
  readonly worker_id?: string;
  /** The owner's lease: a driver fills it in where it reads a task. */
  readonly heartbeat_at?: number;
  readonly links: TaskLinks;
  readonly wake_policy: WakePolicy;
  readonly created_at: number;
  readonly started_at?: number;
  readonly finished_at?: number;
  readonly updated_at: number;
}

/** A new task, as its maker describes it. */
export interface NewTask {
  readonly id: string;
  readonly kind: string;
  readonly display_name: string;
  readonly spec: Json;
  readonly state?: TaskState;
  readonly wake_policy?: WakePolicy;
  readonly links?: TaskLinks;
}

/** An update of a task. Fields that it leaves out stay; nothing can be cleared by it. */
export interface TaskUpdate {
  readonly state?: TaskState;
  readonly state_detail?: string;
  readonly progress?: Progress;
  readonly input_request?: InputRequest;
  readonly summary?: string;
  readonly result_path?: string;
  readonly artifacts?: readonly Artifact[];
  readonly error?: TaskError;
  readonly worker_id?: string;
  readonly heartbeat_at?: number;
  readonly links?: Partial<TaskLinks>;
  /** The attempt that speaks: what an older one says is dropped. */
  readonly expected_attempt?: number;
  readonly increment_attempt?: boolean;
}

/** Any number that is one; a minus before nothing is dropped, as everywhere. */
const finite: Codec<number> = codecFrom<number>(
  "a number",
  (u): u is number => typeof u === "number" && Number.isFinite(u),
  (u, c) => (typeof u === "number" && Number.isFinite(u) ? E.right(u + 0) : refuse(u, c, "expected a number")),
  (n) => n + 0,
);
const TaskStateCodec: Codec<TaskState> = oneOf<TaskState>("a task state", ...activeStates, ...terminalStates);
const WakePolicyCodec: Codec<WakePolicy> = oneOf("a wake policy", "silent", "on_terminal", "on_activity");

/** Reads and writes the progress of a background run. */
export const ProgressCodec: Codec<Progress> = record<Progress>("struct BackgroundProgress", {
  current: optional(finite),
  total: optional(finite),
  unit: optional(string),
  label: optional(string),
});
const InputRequestCodec: Codec<InputRequest> = record<InputRequest>("struct InputRequest", {
  id: string,
  prompt: text,
  expected: optional(json),
});
const ArtifactCodec: Codec<Artifact> = record<Artifact>("struct Artifact", {
  name: string,
  type: string,
  path: optional(string),
  url: optional(string),
});
export const TaskErrorCodec: Codec<TaskError> = record<TaskError>("struct TaskError", {
  kind: string,
  message: text,
});

const ids = list(string);
const links = { child_session_id: optional(string), remote_task_id: optional(string) };
const LinksCodec: Codec<TaskLinks> = record<TaskLinks>("struct TaskLinks", { ...links, resource_ids: ids });
const noLinks: TaskLinks = { resource_ids: [] };
const hasNoLinks = ({ child_session_id, remote_task_id, resource_ids }: TaskLinks): boolean =>
  child_session_id === undefined && remote_task_id === undefined && resource_ids.length === 0;
const MoreLinksCodec: Codec<Partial<TaskLinks>> = record<Partial<TaskLinks>>("struct TaskLinks", {
  ...links,
  resource_ids: optional(array(string)),
});

const content = {
  state_detail: optional(text),
  progress: optional(ProgressCodec),
  input_request: optional(InputRequestCodec),
  summary: optional(text),
  result_path: optional(string),
  error: optional(TaskErrorCodec),
  worker_id: optional(string),
  heartbeat_at: optional(u64),
};

/** Reads and writes a task. */
export const TaskCodec: Codec<Task> = record<Task>("struct Task", {
  id: string,
  session_id: string,
  kind: string,
  display_name: text,
  spec: json,
  state: TaskStateCodec,
  ...content,
  cancel_requested_at: optional(u64),
  artifacts: list(ArtifactCodec),
  attempt: u64,
  links: defaulted<TaskLinks>(LinksCodec, noLinks, hasNoLinks),
  wake_policy: WakePolicyCodec,
  created_at: u64,
  started_at: optional(u64),
  finished_at: optional(u64),
  updated_at: u64,
});

export const NewTaskCodec: Codec<NewTask> = record<NewTask>("struct NewTask", {
  id: string,
  kind: string,
  display_name: text,
  spec: json,
  state: optional(TaskStateCodec),
  wake_policy: optional(WakePolicyCodec),
  links: optional(LinksCodec),
});

export const TaskUpdateCodec: Codec<TaskUpdate> = record<TaskUpdate>("struct TaskUpdate", {
  state: optional(TaskStateCodec),
  ...content,
  artifacts: optional(array(ArtifactCodec)),
  links: optional(MoreLinksCodec),
  expected_attempt: optional(u64),
  increment_attempt: optional(boolean),
});
