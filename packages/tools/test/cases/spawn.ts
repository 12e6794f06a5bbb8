/** Requests to `spawn_background`, and its replies. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { sessionHasSchedules, sessionIsFull, workerIsFull } from "@pawl/sansio-core/driver";
import { defineTool } from "@pawl/runtime";
import { type Spawn, type SpawnPlace, type Target, startedText, taskJson, titleOf, validateSpawn } from "@pawl/tools";
import { type Adapters, knownFields, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { ToolWorld } from "../session/world.ts";
import { type Result, failed, maybeText, number, object, text } from "./input.ts";

export const target = (name: string, hints: JsonObject = {}, hasExecutor = true): Target => ({
  name,
  hints,
  hasExecutor,
});

const targets: { readonly [name: string]: Target } = {
  bg: target("bg", { supports_background: true }),
  plain: target("plain", {}, false),
  hint_only: target("hint_only", { supports_background: true }, false),
  spawn_background: target("spawn_background", {}, false),
};

const placeIn = (context: Json | undefined): SpawnPlace | undefined => {
  if (context === null) return undefined;
  const { tool_registry: names, task_registry, file_store, schedule_store } = object(context);
  const place = { tasks: task_registry === true, files: file_store === true, schedules: schedule_store === true };
  if (!Array.isArray(names)) return place;
  const known = names as readonly Json[];
  return { ...place, tool: (name) => (known.includes(name) ? (targets[name] ?? target(name, {}, false)) : undefined) };
};

const fullIn = (context: JsonObject, { schedule }: Spawn): string | undefined => {
  if (schedule !== undefined) return number(context["active_schedules"]) >= 5 ? sessionHasSchedules(5) : undefined;
  if (number(context["active_worker_runs"]) >= 64) return workerIsFull(64);
  return number(context["active_session_runs"]) >= 5 ? sessionIsFull(5) : undefined;
};

const contextFields = [
  "tool_registry",
  "task_registry",
  "file_store",
  "schedule_store",
  "active_schedules",
  "active_session_runs",
  "active_worker_runs",
];

const validation = ({ args, context }: JsonObject): Result => {
  knownFields(object(context), contextFields);
  const spawn = validateSpawn(object(args), placeIn(context));
  if (E.isLeft(spawn)) return failed(spawn.left);
  const full = fullIn(object(context), spawn.right);
  if (full !== undefined) return failed(full);
  const { target: asked, title, signal, args: given, schedule } = spawn.right;
  if (schedule === undefined) return E.right({ ...startedText(spawn.right, "bg_1", "task_1"), args: given });
  const said = { status: "scheduled", title, tool: asked.name, signal_on_completion: signal };
  return E.right({ ...said, schedule, args: given });
};

const background = (): Promise<never> => new Promise(() => undefined);

/** Reads a hint as a boolean: a tool of a runtime cannot declare anything else. */
const hintsIn = (json: Json | undefined) =>
  Object.fromEntries(Object.entries(object(json)).filter(([, hint]) => typeof hint === "boolean"));

/** Returns the task of a run that does not end, as a model sees it. */
const spawned = async (input: JsonObject): Promise<Result> => {
  const { tool = "bg", title = "T", args = {} } = input;
  const hints = { ...hintsIn(input["hints"]), supports_background: true };
  const everything = { tool: () => target(text(tool), hints), tasks: true, files: true, schedules: true };
  const spawn = validateSpawn({ ...input, tool, title, args }, everything);
  if (E.isLeft(spawn)) return failed(spawn.left);
  const { target: asked, args: given, ...said } = spawn.right;
  const runner = defineTool({ name: asked.name, manifest: { hints }, execute: async () => null, background });
  const work = new ToolWorld().begin([runner]).runtime.background;
  const answer = await work.spawn("s", { tool: asked.name, args: given, title: said.title, signal: said.signal });
  if (answer.status === "refused") return failed(answer.message);
  const task = await work.of("s").task(answer.task);
  return task === undefined ? failed("there is no task") : E.right(taskJson(task));
};

const spawnIn = (input: JsonObject): Spawn => ({
  target: { name: maybeText(input["tool"]) ?? "bg", hints: object(input["hints"]), hasExecutor: true },
  args: object(input["args"]),
  title: maybeText(input["title"]) ?? "T",
  signal: input["signal_on_completion"] !== false && input["signal"] !== false,
});

const started = (input: JsonObject): Result =>
  E.right(startedText(spawnIn(input), text(input["run_id"]), text(input["task_id"])));

const titled = ({ title, tool, display_name: shown }: JsonObject): Result => {
  const name = maybeText(shown);
  return E.right(titleOf(title, { name: text(tool), ...(name === undefined ? {} : { displayName: name }) }));
};

const spawnFields = ["tool", "title", "args", "hints", "signal_on_completion"];

export const spawnAdapters: Adapters = {
  "tools.spawn_validation": withFields(["args", "context"], validation),
  "tools.spawn_return": withFields([...spawnFields, "signal", "run_id", "task_id"], started),
  "tools.spawn_title": withFields(["title", "tool", "display_name"], titled),
  "tools.spawn_task_spec": withFields([...spawnFields, "schedule"], spawned),
};
