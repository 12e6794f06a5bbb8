/** The generic tools for tasks: list, show, message, cancel and wait for the long work of an agent. */
import {
  type NewMessage,
  type Task,
  TaskCodec,
  type TaskMessage,
  instantText,
  isTerminal,
} from "@pawl/sansio-core/driver";
import { type ExecutionResult, type ToolContext, type ToolDefinition, success, toolError } from "@pawl/runtime";
import type { Json, JsonObject } from "@pawl/tool-value";
import { type BuiltinTool, argumentsOf, isGiven, objectSchema, textOf } from "../tool.ts";
import { type SessionBody, instantsOf, sessionTool } from "./builtin.ts";

const times = ["created_at", "started_at", "finished_at", "updated_at", "heartbeat_at", "cancel_requested_at"] as const;

const emptyProgress = { current: null, total: null, unit: null, label: null };

/** Writes a task as JSON, with times as RFC 3339 texts. A missing field is left out, except in a progress. */
export const taskJson = (task: Task): JsonObject => ({
  ...argumentsOf(TaskCodec.encode(task) as Json),
  ...instantsOf(task, times),
  ...(task.progress === undefined ? {} : { progress: { ...emptyProgress, ...task.progress } }),
});

const messageJson = ({ created_at: at, ...message }: TaskMessage): JsonObject => ({
  ...message,
  content: message.content.map((part) => ({ ...part })),
  created_at: instantText(at),
});

/** The default timeout of `wait_task`. */
const waitSeconds = 300;
const maxMessages = 20;

const notFound = (id: string): ExecutionResult => toolError(`Task not found: ${id}`);

const taskTool = (tool: Omit<BuiltinTool, "execute">, body: SessionBody): ToolDefinition =>
  sessionTool(tool, body, "Session task registry not available in this context");

/** Defines a tool for one task, which the argument `task_id` names. */
const ofTask = (
  tool: Omit<BuiltinTool, "execute" | "parameters"> & { readonly properties?: JsonObject },
  body: (task: Task, args: JsonObject, ctx: ToolContext) => Promise<ExecutionResult>,
  required: readonly string[] = [],
): ToolDefinition => {
  const { properties = {}, ...rest } = tool;
  const parameters = objectSchema({ task_id: { type: "string" }, ...properties }, ["task_id", ...required]);
  return taskTool({ ...rest, parameters }, async (args, ctx) => {
    const id = textOf(args["task_id"]);
    if (!isGiven(id)) return toolError("Missing required parameter: task_id");
    const task = await ctx.tasks.read(id);
    return task === null ? notFound(id) : body(task, args, ctx);
  });
};

const readers = { readonly: true, idempotent: true } as const;
const states = ["queued", "running", "awaiting_input", "succeeded", "failed", "canceled"];

const list = taskTool(
  {
    name: "list_tasks",
    displayName: "List Tasks",
    description: "Lists the session's tasks, oldest first: background runs, monitors, and other long work.",
    parameters: objectSchema({ kind: { type: "string" }, state: { type: "string", enum: states } }),
    hints: readers,
  },
  async ({ kind, state }, ctx) => {
    const filter = { ...(isGiven(textOf(kind)) ? { kind } : {}), ...(isGiven(textOf(state)) ? { state } : {}) };
    const tasks = await ctx.tasks.list(filter as Parameters<typeof ctx.tasks.list>[0]);
    return success({ tasks: tasks.map(taskJson), count: tasks.length });
  },
);

const read = ofTask(
  {
    name: "get_task",
    displayName: "Get Task",
    description: "Shows a task: its state, its progress, its result, and its newest messages.",
    hints: readers,
  },
  async (task, _, ctx) => {
    const messages = await ctx.tasks.messages(task.id, { limit: maxMessages });
    return success({ task: taskJson(task), messages: messages.map(messageJson) });
  },
);

const message = (accepts: (kind: string) => boolean): ToolDefinition =>
  ofTask(
    {
      name: "message_task",
      displayName: "Message Task",
      description: "Sends a message to a task, such as the input that it waits for.",
      properties: { text: { type: "string", minLength: 1 }, in_reply_to: { type: "string" } },
    },
    async (task, { text, in_reply_to: reply }, ctx) => {
      if (!isGiven(textOf(text))) return toolError("Missing required parameter: text");
      if (!accepts(task.kind)) return toolError(`task kind '${task.kind}' does not accept inbound messages`);
      const sent: Omit<NewMessage, "id"> = {
        task_id: task.id,
        direction: "inbound",
        content: [{ type: "text", text: textOf(text) ?? "" }],
        ...(isGiven(textOf(reply)) ? { in_reply_to: textOf(reply) ?? "" } : {}),
      };
      return success({ task_id: task.id, message_id: await ctx.tasks.message(sent), sent: true });
    },
    ["text"],
  );

const cancel = ofTask(
  {
    name: "cancel_task",
    displayName: "Cancel Task",
    description: "Requests the end of a task. The task ends when its worker obeys.",
    hints: { idempotent: true },
  },
  async (task, _, ctx) => success({ task: taskJson(await ctx.tasks.cancel(task.id)) }),
);

const wait = ofTask(
  {
    name: "wait_task",
    displayName: "Wait for Task",
    description: "Waits until a task has ended or needs input, up to a timeout.",
    properties: { timeout_seconds: { type: "number", minimum: 0, maximum: 3600, default: waitSeconds } },
    hints: { ...readers, long_running: true },
  },
  async ({ id }, { timeout_seconds: seconds }, ctx) => {
    const ms = Math.min(typeof seconds === "number" ? Math.max(0, seconds) : waitSeconds, 3600) * 1000;
    const task = await ctx.tasks.wait(id, ms);
    return success({ task: taskJson(task), timed_out: !isTerminal(task.state) && task.state !== "awaiting_input" });
  },
);

/** Defines the task tools; `accepts` returns true for kinds of tasks that accept messages. */
export const taskTools = (accepts: (kind: string) => boolean): readonly ToolDefinition[] => [
  list,
  read,
  message(accepts),
  cancel,
  wait,
];
