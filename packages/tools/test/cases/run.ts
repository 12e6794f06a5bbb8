/** Background runs: asked for, written down, ended, lost; and schedules. */
import type { Json, JsonObject } from "@pawl/tool-value";
import {
  type Output,
  type RunOutcome,
  type Schedule,
  artifactFailure,
  artifactsOf,
  codePoints,
  createSchedule,
  failedRun,
  fireText,
  hiddenFailure,
  instantOf,
  instantText,
  logOf,
  pathsOf,
  probeText,
  sessionHasSchedules,
  sessionIsFull,
  signalText,
  triggered,
  truncationNote,
  unexpectedEnd,
  updateOf,
  workerIsFull,
} from "@pawl/sansio-core";
import {
  MemoryFiles,
  type Spawn,
  type SpawnPlace,
  type Target,
  defaultRegistry,
  intervalOf,
  isCandidate,
  monitorDescription,
  nextFire,
  probeResultText,
  reap,
  readSchedule,
  scheduledText,
  startedText,
  taskOf,
  titleOf,
  validateSpawn,
} from "@pawl/tools";
import { decideReattach } from "@pawl/runtime";
import type { Adapters } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { type Result, checked, failed, list, maybeText, object, text } from "./input.ts";
import { taskIn } from "./task.ts";

const cap = 262_144;

const textIn = (json: Json | undefined): string => {
  const [part, times] = list(object(json)["repeat"]);
  return typeof part === "string" && typeof times === "number" ? part.repeat(times) : text(json);
};

const outputLog = ({ writes, finish, raw_output: raw }: JsonObject): Result => {
  const all = list(writes).map((write): Output => {
    const [stream, delta] = list(write);
    return { stream: text(stream), delta: textIn(delta) };
  });
  const log = logOf(all, cap);
  const done: RunOutcome = { type: "succeeded", summary: "", result: null };
  const output = raw === undefined || raw === null ? done : { ...done, raw_output: textIn(raw) };
  const outcome = finish === "cancel" ? ({ type: "canceled" } as const) : output;
  const final = artifactsOf(outcome, all, cap).log;
  const note = truncationNote(cap);
  const suffix = final.endsWith(note) ? note : "";
  return E.right({
    final_log: final,
    truncated: log.isTruncated || final.endsWith(note),
    log_code_points: log.length,
    final_log_code_points: codePoints(final),
    final_log_suffix: final.startsWith(log.text) && raw === undefined ? final.slice(log.text.length) : suffix,
    emoji_kept: [...log.text].filter((char) => char === "😀").length,
  });
};

const outcomeIn = (json: JsonObject): RunOutcome => {
  const { ok, tool_error, internal_error, connection_required, cancelled } = json;
  if (ok !== undefined) {
    const { summary, result = null, raw_output: raw } = object(ok);
    const said = { type: "succeeded", summary: text(summary), result } as const;
    return typeof raw === "string" ? { ...said, raw_output: raw } : said;
  }
  if (cancelled === true) return { type: "canceled" };
  if (tool_error !== undefined) return failedRun(text(tool_error));
  if (internal_error !== undefined) return failedRun(hiddenFailure);
  if (connection_required !== undefined) {
    return failedRun(`Background tool requires connection setup: ${text(connection_required)}`);
  }
  return failedRun(unexpectedEnd);
};

const words = { succeeded: "completed", failed: "failed", canceled: "canceled" } as const;

/** Whether the folder of a run can be made where this file stands. */
const isWritable = async (blocked: string | undefined): Promise<boolean> => {
  const files = new MemoryFiles();
  if (blocked !== undefined) await files.write(blocked, new Uint8Array(), { encoding: "text" });
  try {
    await files.createDirectory(pathsOf("bg_1").artifact_dir);
    return true;
  } catch {
    return false; // That it can not is what is asked.
  }
};

const finalized = async (input: JsonObject): Promise<Result> => {
  const written = await isWritable(maybeText(input["preexisting_file"]));
  const wanted = outcomeIn(object(input["outcome"]));
  const outcome: RunOutcome = written ? wanted : { type: "failed", error: artifactFailure };
  const { log, result } = artifactsOf(wanted, [], cap);
  const update = updateOf(outcome, written ? pathsOf("bg_1") : undefined);
  const shown = update.result_path === undefined ? update : { ...update, result_path: "<result_path>" };
  return E.right({
    output_log: log,
    result_json_text: result,
    result_json: JSON.parse(result) as unknown,
    task_update: shown,
    task_update_state: update.state,
    task_state: update.state,
    error: update.error,
    signal_status: words[outcome.type],
    signal_summary: update.summary,
    signal_sent: true,
  });
};

const signal = ({ status, run_id: run, title, tool, summary, signal_on_completion: wanted }: JsonObject): Result =>
  wanted === false
    ? E.right({ messages: 0 })
    : E.right(
        signalText({
          status: status as "completed",
          run: text(run),
          title: text(title),
          tool: text(tool),
          summary: text(summary),
        }),
      );

const target = (name: string, hints: JsonObject = {}, hasExecutor = true): Target => ({ name, hints, hasExecutor });

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
  return { ...place, tool: (name) => ((names as readonly Json[]).includes(name) ? targets[name] : undefined) };
};

const number = (json: Json | undefined): number => (typeof json === "number" ? json : 0);

const fullIn = (context: JsonObject, { schedule }: Spawn): string | undefined => {
  if (schedule !== undefined) return number(context["active_schedules"]) >= 5 ? sessionHasSchedules(5) : undefined;
  if (number(context["active_worker_runs"]) >= 64) return workerIsFull(64);
  return number(context["active_session_runs"]) >= 5 ? sessionIsFull(5) : undefined;
};

const validation = ({ args, context }: JsonObject): Result => {
  const spawn = validateSpawn(object(args), placeIn(context));
  if (E.isLeft(spawn)) return failed(spawn.left);
  const full = fullIn(object(context), spawn.right);
  return full === undefined ? E.right(spawn.right) : failed(full);
};

const spawnIn = (input: JsonObject, more: Partial<Spawn> = {}): Spawn => ({
  target: { name: maybeText(input["tool"]) ?? "bg", hints: object(input["hints"]), hasExecutor: true },
  args: object(input["args"]),
  title: maybeText(input["title"]) ?? "T",
  signal: input["signal_on_completion"] !== false && input["signal"] !== false,
  ...more,
});

const started = (input: JsonObject): Result =>
  E.right(startedText(spawnIn(input), text(input["run_id"]), text(input["task_id"])));

const titled = ({ title, tool, display_name: shown }: JsonObject): Result => {
  const name = maybeText(shown);
  return E.right(titleOf(title, { name: text(tool), ...(name === undefined ? {} : { displayName: name }) }));
};

const now = Date.parse("2026-04-16T15:30:00Z");

/** A schedule that stands, as the model is told of it. */
const scheduled = (input: JsonObject): Result => {
  const { schedule: given = { cron_expression: "0 * * * *" } } = input;
  const parsed = readSchedule(given);
  if (E.isLeft(parsed)) return failed(parsed.left);
  const { cron, at, timezone } = parsed.right;
  const when = {
    ...(cron === undefined ? {} : { cron_expression: cron }),
    ...(at === undefined ? {} : { scheduled_at: at }),
  };
  const next = cron === undefined ? E.right(undefined) : nextFire(cron, timezone, now);
  if (E.isLeft(next)) return failed(next.left);
  const made = createSchedule({ id: "sched_1", description: "d", timezone, ...when }, "s", now);
  const schedule = next.right === undefined ? made : { ...made, next_trigger_at: next.right };
  const isShown = input["task_registry"] !== null && input["monitor_task_create"] !== "fails";
  const spawn = spawnIn(input);
  const said = scheduledText(spawn, schedule, isShown ? "task_1" : null);
  return E.right({ ...said, scheduled_at_instant: said["scheduled_at"], description: monitorDescription(spawn) });
};

const probed = (fire: JsonObject, at: string): string | undefined => {
  const tool = maybeText(fire["tool"]);
  const { success, tool_error: error } = object(fire["result"]);
  if (tool === undefined) return undefined;
  if (success !== undefined) return probeText(tool, at, { type: "succeeded", text: probeResultText(success) });
  return error === undefined ? undefined : probeText(tool, at, { type: "failed", message: text(error) });
};

const monitor = (input: JsonObject): Result => {
  const { fire, at, one_shot } = input;
  if (fire === undefined) return scheduled(input);
  const note = probed(object(fire), text(at));
  const done =
    one_shot === true ? { task_state: "succeeded", summary: "Scheduled monitor completed" } : { task_state: "running" };
  return E.right({ message: note ?? fireText(text(at)), agent_turn: note === undefined, ...done });
};

const instant = (at: number | undefined): string | null => (at === undefined ? null : instantText(at));

const marked = (kind: Json | undefined, count: Json | undefined): Result => {
  const cron = kind === "oneshot" ? {} : { cron_expression: "*/10 * * * *" };
  const made = createSchedule({ id: "sched_1", description: "d", timezone: "UTC", ...cron }, "s", now);
  const fired: Schedule = triggered({ ...made, trigger_count: number(count) }, now);
  const next = fired.enabled ? E.toUnion(nextFire("*/10 * * * *", "UTC", now)) : undefined;
  return E.right({ ...fired, next: typeof next === "number" ? instantText(next) : null });
};

const schedule = (input: JsonObject): Result => {
  const { cron, timezone, after, min_interval, scheduled_at, mark_triggered, trigger_count } = input;
  if (mark_triggered !== undefined) return marked(mark_triggered, trigger_count);
  if (cron !== undefined && min_interval === true) {
    return E.right({ interval_seconds: intervalOf(text(cron), instantOf(text(after)) ?? now) ?? null });
  }
  if (cron !== undefined) {
    const next = nextFire(text(cron), maybeText(timezone) ?? "UTC", instantOf(text(after)) ?? now);
    return checked(E.map((at: number) => ({ next: instantText(at) }))(next));
  }
  const at = instantOf(text(scheduled_at));
  const once = { id: "sched_1", description: "d", timezone: "UTC", ...(at === undefined ? {} : { scheduled_at: at }) };
  return E.right({ next: instant(createSchedule(once, "s", instantOf(text(input["now"])) ?? now).next_trigger_at) });
};

const reaped = ({ task, age_s: age, can_reattach: canReattach, start }: JsonObject): Result => {
  const { heartbeat_age_s: own, ...said } = object(task);
  const known = taskIn(said);
  const silent = said["heartbeat_at"] === null ? undefined : typeof own === "number" ? own : number(age);
  const candidate = isCandidate(known, silent);
  if (!candidate) return E.right({ candidate });
  const { error } = object(start);
  const begin = (): E.Either<string, void> => (error === undefined ? E.right(undefined) : E.left(text(error)));
  return E.right({ candidate, ...reap(known, { canReattach: canReattach === true, start: begin, now }) });
};

const ofDefaults = (name: string): Target | undefined => {
  const tool = defaultRegistry().get(name);
  return tool === undefined ? undefined : { name, hints: tool.hints ?? {}, hasExecutor: false };
};

const reattached = (input: JsonObject): Result => {
  const { resolver, task, active_session_runs, active_worker_runs } = input;
  const spec = input["spec"] ?? object(task)["spec"] ?? {};
  const ofCase = (name: string): Target | undefined => {
    const found = object(resolver)[name];
    return found === undefined
      ? undefined
      : target(name, object(object(found)["hints"]), object(found)["background"] === true);
  };
  const decided = decideReattach(spec, {
    files: input["file_store"] !== null,
    tasks: input["task_registry"] !== null,
    resolve: typeof resolver === "object" && resolver !== null ? ofCase : ofDefaults,
    isWorkerFull: number(active_worker_runs) >= 64,
    isSessionFull: number(active_session_runs) >= 5,
  });
  const said = (run: { readonly arguments: JsonObject; readonly signal: boolean }) => ({
    arguments: run.arguments,
    signal_on_completion: run.signal,
    first_status: "Re-attaching",
    heartbeat_expected_attempt: object(task)["attempt"] ?? 1,
    new_run_id: true,
  });
  return checked(E.map(said)(decided));
};

export const runAdapters: Adapters = {
  "tools.output_log": outputLog,
  "tools.finalize": finalized,
  "tools.session_signal": signal,
  "tools.spawn_validation": validation,
  "tools.spawn_return": started,
  "tools.spawn_title": titled,
  "tools.spawn_task_spec": (input) => E.right(taskOf(spawnIn(input), "task_1")),
  "tools.monitor": monitor,
  "tools.schedule": schedule,
  "tools.reaper": reaped,
  "tools.reattach": reattached,
};
