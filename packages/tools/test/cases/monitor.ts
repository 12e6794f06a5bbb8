/** Monitors in a session of a runtime: their creation, and what happens when they fire. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { type NewSchedule, instantText } from "@pawl/sansio-core/driver";
import {
  type ExecutionResult,
  type SessionMessage,
  connectionRequired,
  internalError,
  success,
  toolError,
} from "@pawl/runtime";
import {
  type BuiltinTool,
  type Spawn,
  type SpawnPlace,
  monitorDescription,
  scheduledText,
  sessionTools,
  validateSpawn,
} from "@pawl/tools";
import { type Adapters, caseProtocol, knownFields, knownName, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import type { Process } from "../../../runtime/test/world.ts";
import { ToolWorld } from "../session/world.ts";
import { type Result, failed, number, object, text } from "./input.ts";
import { target } from "./spawn.ts";

/** The default time of a case. */
export const now = Date.parse("2026-04-16T15:30:00Z");
const everyTenMinutes = { cron_expression: "*/10 * * * *" };
const toNextFire = 600_000;

class MonitorWorld extends ToolWorld {
  open(probes: readonly BuiltinTool[] = []): Process {
    this.platform.advance(now - this.platform.now());
    const { tools, host } = sessionTools({ probes, now: this.platform.now });
    const tell = async (said: SessionMessage): Promise<void> => void this.heard.push(said);
    return this.start(tools, { host: { ...host, tell } });
  }

  async pass(ms: number): Promise<void> {
    await this.quiet(20);
    this.platform.advance(ms);
    await this.quiet(20);
    this.platform.advance(1); // A session that was evicted meanwhile is woken by its own timer.
    await this.quiet(20);
  }
}

/** Returns the place of a monitor: everything that a session has, without what the case takes away. */
const placeOf = (input: JsonObject): SpawnPlace => ({
  tool: (name) => target(name, { supports_background: true, ...object(input["hints"]) }),
  tasks: input["task_registry"] !== null,
  files: input["file_store"] !== null,
  schedules: input["schedule_store"] !== null,
});

const newSchedule = (spawn: Spawn): NewSchedule => {
  const { cron, at, timezone = "UTC" } = spawn.schedule ?? {};
  const { target: asked, title, args, signal: signal_on_completion } = spawn;
  return {
    id: "sched_1",
    description: monitorDescription(spawn),
    timezone,
    ...(cron === undefined ? {} : { cron_expression: cron }),
    ...(at === undefined ? {} : { scheduled_at: at }),
    monitor: { task: "task_1", title, tool: asked.name, arguments: args, signal_on_completion },
  };
};

/** Returns a schedule as the model sees it. */
const scheduled = async (input: JsonObject): Promise<Result> => {
  const { tool = "bg", args = {}, schedule: when = { cron_expression: "0 * * * *" } } = input;
  const wanted = validateSpawn({ ...input, tool, args, schedule: when }, placeOf(input));
  if (E.isLeft(wanted)) return failed(wanted.left);
  const spawn = wanted.right;
  const work = new MonitorWorld(caseProtocol()).open().runtime.background.of("s");
  for (let n = 0; n < number(input["active_schedules"]); n++) {
    await work.schedule({ id: `other_${n}`, description: "d", timezone: "UTC", ...everyTenMinutes });
  }
  // The name of its task is taken, so that none can be created.
  const isTaken = knownName("word", input["monitor_task_create"] ?? "succeeds", ["fails", "succeeds"]) === "fails";
  if (isTaken) await work.create({ id: "task_1", kind: "subagent", display_name: "N", spec: null });
  const { monitor: shown, ...bare } = newSchedule(spawn);
  const answer = await work.schedule(
    input["task_registry"] === null || shown === undefined ? bare : { ...bare, monitor: shown },
  );
  if (answer.status === "refused") return failed(answer.message);
  const said = scheduledText(spawn, answer.schedule, answer.task);
  const { description } = answer.schedule;
  const task = answer.task === null ? null : await work.task(answer.task);
  return E.right({ ...said, scheduled_at_instant: said["scheduled_at"], description, task });
};

const monitor = { task: "task_1", title: "T", tool: "bg", arguments: {}, signal_on_completion: true };

const resultOf = (result: Json | undefined): ExecutionResult => {
  const { success: value, tool_error, internal_error, connection_required } = object(result);
  if (tool_error !== undefined) return toolError(text(tool_error));
  if (internal_error !== undefined) return internalError(new Error(text(internal_error)));
  return connection_required === undefined ? success(value ?? null) : connectionRequired(text(connection_required));
};

const probeOf = ({ tool, result }: JsonObject): readonly BuiltinTool[] =>
  text(tool) === ""
    ? []
    : [{ name: text(tool), description: "", parameters: {}, execute: async () => resultOf(result) }];

/** Fires a monitor for the first time. */
const fired = async ({ fire: json, at, one_shot: isOnce }: JsonObject): Promise<Result> => {
  const fire = object(json);
  const world = new MonitorWorld(caseProtocol());
  const work = world.open(probeOf(fire)).runtime.background.of("s");
  const when = isOnce === true ? { scheduled_at: now + toNextFire } : everyTenMinutes;
  const tool = text(fire["tool"]) || "bg";
  await work.schedule({ id: "sched_1", description: "d", timezone: "UTC", ...when, monitor: { ...monitor, tool } });
  await world.pass(toNextFire);
  const [message] = await work.messages("task_1");
  const [part] = message?.content ?? [];
  const task = await work.task("task_1");
  return E.right({
    message: part?.type === "text" ? part.text.replace(instantText(now + toNextFire), text(at)) : null,
    agent_turn: world.heard.some(({ schedule }) => schedule !== undefined),
    task_state: task?.state,
    summary: task?.summary,
  });
};

/** Cancels a monitor by its task or by its schedule. */
const ended = async (what: "cancel" | "sweep"): Promise<Result> => {
  const work = new MonitorWorld(caseProtocol()).open().runtime.background.of("s");
  await work.schedule({ id: "sched_1", description: "d", timezone: "UTC", ...everyTenMinutes, monitor });
  await (what === "cancel" ? work.cancel("task_1") : work.cancelSchedule("sched_1"));
  const task = await work.task("task_1");
  const [schedule] = await work.schedules();
  const { state: task_state, summary, state_detail } = task ?? {};
  return E.right({ task_state, summary, state_detail, enabled: schedule?.enabled });
};

const asked = (input: JsonObject): Promise<Result> => {
  if (input["fire"] !== undefined) {
    knownFields(input, ["fire", "at", "one_shot"]);
    const { result, ...probe } = object(input["fire"]);
    knownFields(probe, ["tool"]);
    knownFields(object(result), ["success", "tool_error", "internal_error", "connection_required"]);
    return fired(input);
  }
  if (input["cancel"] !== undefined) return ended("cancel");
  return input["sweep"] === undefined ? scheduled(input) : ended("sweep");
};

const scheduleFields = ["schedule", "tool", "title", "args", "signal_on_completion", "hints", "active_schedules"];
const placeFields = ["task_registry", "file_store", "schedule_store", "monitor_task_create"];

export const monitorAdapters: Adapters = {
  "tools.monitor": withFields([...scheduleFields, ...placeFields, "fire", "at", "one_shot", "cancel", "sweep"], asked),
};
