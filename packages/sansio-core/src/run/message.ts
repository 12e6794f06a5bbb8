/** Messages between a session and its tasks, and what a session is told when a task moves. */
import type { Json } from "@pawl/tool-value";
import { type Task, type TaskUpdate } from "../message/task.ts";
import { applyTaskUpdate, isTerminal } from "./task.ts";

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

/** What the session is told of an update that asked for a state and brought it about, by the task's policy. */
export const wakeOfUpdate = (before: Task, after: Task, update: TaskUpdate): string | undefined => {
  const { state, wake_policy: policy } = after;
  if (policy === "silent" || before.state === state) return undefined;
  if (isTerminal(state)) return update.state === state ? finishedText(after) : undefined;
  if (state !== "awaiting_input" || policy !== "on_activity" || update.input_request === undefined) return undefined;
  return `${named(after)} is awaiting input: ${update.input_request.prompt}`;
};

/** What the session is told of a message, by the task's policy. */
export const wakeOfMessage = (task: Task, { direction, content }: Omit<NewMessage, "id">): string | undefined => {
  if (direction !== "outbound" || task.wake_policy !== "on_activity") return undefined;
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  return `${named(task)} sent a message: ${text.trim() === "" ? "structured progress update" : text}`;
};
