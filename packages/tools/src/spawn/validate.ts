/** The checks of a request for a background run, in a fixed order. The first failure is reported. */
import { type Json, type JsonObject, isObject } from "@pawl/tool-value";
import { instantOf } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type { ToolHints } from "@pawl/runtime";

/** Names the tool that starts background runs. */
export const spawnName = "spawn_background";

/** The part of a tool that a background run needs. */
export interface Target {
  readonly name: string;
  readonly displayName?: string;
  readonly hints: ToolHints;
  readonly hasExecutor: boolean;
}

export interface SpawnPlace {
  /** Undefined if there is no registry. */
  readonly tool?: (name: string) => Target | undefined;
  readonly tasks: boolean;
  readonly files: boolean;
  readonly schedules: boolean;
}

export interface SpawnSchedule {
  readonly cron?: string;
  readonly at?: number;
  readonly timezone: string;
}

export interface Spawn {
  readonly target: Target;
  readonly args: JsonObject;
  readonly title: string;
  readonly signal: boolean;
  readonly schedule?: SpawnSchedule;
}

type Checked<A> = E.Either<string, A>;

const trimmed = (value: Json | undefined): string | undefined => {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
};

const instantIn = (value: Json | undefined): Checked<number | undefined> => {
  const text = trimmed(value);
  if (text === undefined) return E.right(undefined);
  const at = instantOf(text);
  return at === undefined ? E.left("scheduled_at must be RFC3339") : E.right(at);
};

const both = "schedule must not include both cron_expression and scheduled_at; provide exactly one";
const neither = "schedule must include exactly one of cron_expression (recurring) or scheduled_at (one-shot)";

/** Reads the `schedule` of `spawn_background`. */
export const readSchedule = (value: Json): Checked<SpawnSchedule> => {
  if (!isObject(value)) return E.left("schedule must be an object");
  const cron = trimmed(value["cron_expression"]);
  const at = instantIn(value["scheduled_at"]);
  if (E.isLeft(at)) return at;
  if (cron === undefined && at.right === undefined) return E.left(neither);
  if (cron !== undefined && at.right !== undefined) return E.left(both);
  const timezone = trimmed(value["timezone"]) ?? "UTC";
  return E.right(
    cron === undefined ? { ...(at.right === undefined ? {} : { at: at.right }), timezone } : { cron, timezone },
  );
};

const noRegistry = "Tool registry not available in this context. spawn_background requires worker-side tool execution.";

const targetOf = (name: string, { tool }: SpawnPlace): Checked<Target> => {
  if (tool === undefined) return E.left(noRegistry);
  const target = tool(name);
  if (target === undefined) return E.left(`Unknown tool: ${name}`);
  if (name === spawnName) return E.left("spawn_background cannot target itself recursively");
  if (target.hints.supports_background !== true) return E.left(`Tool does not support background execution: ${name}`);
  return target.hasExecutor
    ? E.right(target)
    : E.left(`Tool declared background support but has no background executor: ${name}`);
};

/** Returns the given title of a run, or a title made from its tool. */
export const titleOf = (
  title: Json | undefined,
  { name, displayName = "" }: Pick<Target, "name" | "displayName">,
): string => trimmed(title) ?? (displayName.trim() === "" ? `Background ${name}` : displayName);

/** Returns the error for a missing store that a run or a monitor needs. */
const missingIn = ({ tasks, files, schedules }: SpawnPlace, isScheduled: boolean): string | undefined => {
  if (isScheduled) {
    return schedules
      ? undefined
      : "Schedule store not available in this context. Scheduled monitors require session schedules.";
  }
  if (!tasks) return "Session task registry not available in this context. Background runs require task tracking.";
  return files
    ? undefined
    : "Session file store not available in this context. spawn_background requires artifact persistence.";
};

const signalOf = (args: JsonObject): boolean => args["signal_on_completion"] !== false;

const planned = (args: JsonObject): Checked<SpawnSchedule | undefined> =>
  Object.hasOwn(args, "schedule") ? readSchedule(args["schedule"] as Json) : E.right(undefined);

const noContext = `${spawnName} requires context. This tool must be executed with session context.`;

/** Validates a request; without a place it fails before anything else is checked. */
export const validateSpawn = (args: JsonObject, place: SpawnPlace | undefined): Checked<Spawn> => {
  if (place === undefined) return E.left(noContext);
  const name = trimmed(args["tool"]);
  if (name === undefined) return E.left("Missing required parameter: tool");
  const given = args["args"];
  if (!isObject(given)) return E.left("Missing required parameter: args (object expected)");
  const schedule = planned(args);
  if (E.isLeft(schedule)) return schedule;
  const target = targetOf(name, place);
  if (E.isLeft(target)) return target;
  const missing = missingIn(place, schedule.right !== undefined);
  if (missing !== undefined) return E.left(missing);
  const spawn = {
    target: target.right,
    args: given,
    title: titleOf(args["title"], target.right),
    signal: signalOf(args),
  };
  return E.right(schedule.right === undefined ? spawn : { ...spawn, schedule: schedule.right });
};
