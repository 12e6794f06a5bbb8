/** What is asked of `spawn_background`, and what it says at once. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { sessionHasSchedules, sessionIsFull, workerIsFull } from "@pawl/sansio-core";
import { type Spawn, type SpawnPlace, type Target, startedText, taskOf, titleOf, validateSpawn } from "@pawl/tools";
import type { Adapters } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
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

const validation = ({ args, context }: JsonObject): Result => {
  const spawn = validateSpawn(object(args), placeIn(context));
  if (E.isLeft(spawn)) return failed(spawn.left);
  const full = fullIn(object(context), spawn.right);
  if (full !== undefined) return failed(full);
  const { target: asked, title, signal, args: given, schedule } = spawn.right;
  if (schedule === undefined) return E.right({ ...startedText(spawn.right, "bg_1", "task_1"), args: given });
  const said = { status: "scheduled", title, tool: asked.name, signal_on_completion: signal };
  return E.right({ ...said, schedule, args: given });
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

export const spawnAdapters: Adapters = {
  "tools.spawn_validation": validation,
  "tools.spawn_return": started,
  "tools.spawn_title": titled,
  "tools.spawn_task_spec": (input) => E.right(taskOf(spawnIn(input), "task_1")),
};
