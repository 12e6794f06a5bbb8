/** Tools for an agent's own progress: `report_progress` for people outside, `write_todos` for itself. */
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { success, toolError } from "@pawl/runtime";
import { type BuiltinTool, objectSchema } from "./tool.ts";

export interface ProgressReport {
  readonly status: "progress" | "blocked" | "completed";
  readonly summary: string;
  readonly details: readonly string[];
}

const statuses = ["progress", "blocked", "completed"] as const;
const wrong = (text: string): E.Either<string, never> => E.left(`Invalid report_progress arguments: ${text}`);

const parseReport = (args: JsonObject): E.Either<string, ProgressReport> => {
  const { status, summary, details = [] } = args;
  if (status === undefined) return wrong("missing field `status`");
  const known = statuses.find((one) => one === status);
  if (known === undefined) {
    const wanted = "expected one of `progress`, `blocked`, `completed`";
    return wrong(typeof status === "string" ? `unknown variant \`${status}\`, ${wanted}` : `${wanted} as \`status\``);
  }
  if (summary === undefined) return wrong("missing field `summary`");
  if (typeof summary !== "string") return wrong("expected a string as `summary`");
  const list = details === null ? [] : details;
  if (!Array.isArray(list) || !list.every((one) => typeof one === "string")) {
    return wrong("expected a list of strings as `details`");
  }
  return E.right({ status: known, summary: summary.trim(), details: list.map((one: string) => one.trim()) });
};

const checkReport = (report: ProgressReport): E.Either<string, ProgressReport> => {
  if (report.summary === "") return E.left("Missing required field: 'summary'");
  const blank = report.details.indexOf("");
  return blank === -1 ? E.right(report) : E.left(`details[${blank}] must not be empty`);
};

const words = { progress: "Update", blocked: "Blocked", completed: "Done" } as const;

/** Writes a report for people. */
export const reportText = ({ status, summary, details }: ProgressReport): string =>
  [`${words[status]}: ${summary}`, ...details.map((detail) => `- ${detail}`)].join("\n");

/** Reads the arguments of `report_progress`. */
export const readReport = (args: JsonObject): E.Either<string, ProgressReport> => {
  const report = parseReport(args);
  return E.isLeft(report) ? report : checkReport(report.right);
};

const text = { type: "string", minLength: 1 };

export const reportProgress: BuiltinTool = {
  name: "report_progress",
  displayName: "Report Progress",
  description: "Reports to the people outside that the work goes on, is blocked, or is done.",
  parameters: objectSchema(
    { status: { type: "string", enum: [...statuses] }, summary: text, details: { type: "array", items: text } },
    ["status", "summary"],
  ),
  execute: async (args) => {
    const report = readReport(args);
    if (E.isLeft(report)) return toolError(report.left);
    const { status, summary, details } = report.right;
    return success({ status, summary, ...(details.length === 0 ? {} : { details: [...details] }) });
  },
};

const todoStates = ["pending", "in_progress", "completed"] as const;
type Todo = { readonly content: string; readonly activeForm: string; readonly status: (typeof todoStates)[number] };

const todoOf = (item: Json, n: number): E.Either<string, Todo> => {
  const { content, activeForm, status } = isObject(item) ? item : {};
  const missing = (field: string): E.Either<string, never> =>
    E.left(`Task ${n} is missing or has empty '${field}' field`);
  if (typeof content !== "string" || content === "") return missing("content");
  if (typeof activeForm !== "string" || activeForm === "") return missing("activeForm");
  if (typeof status !== "string") return E.left(`Task ${n} is missing 'status' field`);
  const known = todoStates.find((one) => one === status);
  return known === undefined
    ? E.left(`Task ${n} has invalid status '${status}'. Must be 'pending', 'in_progress', or 'completed'`)
    : E.right({ content, activeForm, status: known });
};

const warningOf = (inProgress: number, pending: number): string | undefined => {
  if (inProgress > 1) {
    return "Multiple tasks are marked as 'in_progress'. Best practice is to have exactly one in_progress task at a time.";
  }
  return inProgress === 0 && pending > 0
    ? "No task is marked as 'in_progress'. Consider marking one task as in_progress."
    : undefined;
};

const summaryOf = (todos: readonly Todo[]): JsonObject => {
  const count = (state: Todo["status"]): number => todos.filter(({ status }) => status === state).length;
  const [pending, in_progress, completed] = todoStates.map(count) as [number, number, number];
  const warning = warningOf(in_progress, pending);
  const summary = { success: true, total_tasks: todos.length, pending, in_progress, completed, todos: [...todos] };
  return warning === undefined ? summary : { ...summary, warning };
};

/** Stores nothing: every call brings the whole list, and the history of calls keeps it. */
export const writeTodos: BuiltinTool = {
  name: "write_todos",
  displayName: "Write Todos",
  description: "Writes the whole todo list, with the state of each item.",
  parameters: objectSchema(
    {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: {
            content: { type: "string" },
            activeForm: { type: "string" },
            status: { type: "string", enum: [...todoStates] },
          },
          required: ["content", "activeForm", "status"],
        },
      },
    },
    ["todos"],
  ),
  hints: { idempotent: true, concurrency_class: "session_todos" },
  execute: async (args) => {
    const { todos: list } = args;
    if (list === undefined) return toolError("Missing required field: 'todos'");
    if (!Array.isArray(list)) return toolError("Invalid 'todos' field: expected an array");
    const todos: Todo[] = [];
    for (const [i, item] of list.entries()) {
      const todo = todoOf(item as Json, i + 1);
      if (E.isLeft(todo)) return toolError(todo.left);
      todos.push(todo.right);
    }
    return success(summaryOf(todos));
  },
};

const reportingTags: ReadonlySet<string> = new Set([
  "channel:reply_mode:report_progress_only",
  "slack:reply_mode:report_progress_only",
]);
const heading = "# External Progress Reporting";
const section = `${heading}

The people outside read only your \`report_progress\` calls. Report when something is under way, when you are blocked, and when
it is done. Everything else that you write stays here.`;

/** Prefixes the prompt with the section on reporting, once, if the session's tags ask for it. */
export const withReporting = (tags: readonly string[], prompt: string): string =>
  tags.some((tag) => reportingTags.has(tag)) && !prompt.includes(heading) ? `${section}\n\n${prompt}` : prompt;
