/** Background runs, tasks and schedules of the core simulation, and the answers to their commands. */
import type { CommandOf, Command, Event, EventOf, RejectionCode } from "@pawl/sansio-core";
import { anyRun, processScopeId } from "./process.ts";
import type { Dice } from "./random.ts";
import type { SimScope } from "./scope.ts";
import type { Environment } from "./environment.ts";

type Schedule = EventOf<"schedule.requested">["schedule"];
type Update = EventOf<"task.updated">["update"];

const tasks = ["task_0a", "task_0b", "task_0c"] as const;
const schedules = ["sched_0a", "sched_0b", "sched_0c"] as const;

/** Scopes of protocol 1 have no intervals. */
const anySchedule = (dice: Dice, at: number, protocol: number): Schedule => {
  const every = protocol === 1 ? [] : [{ every_ms: dice.pick([1000, 300_000]) }];
  const monitor = { task: dice.pick(tasks), title: "M", tool: "t0", arguments: null, signal_on_completion: true };
  const once = { scheduled_at: at + dice.pick([1, 50, 1000]) };
  const when = dice.pick([{ cron_expression: "*/10 * * * *" }, once, ...every]);
  const id = dice.pick(schedules);
  return { id, description: "do it", timezone: "UTC", ...when, ...(dice.isUnder(50) ? { monitor } : {}) };
};

const anyTask = (dice: Dice): EventOf<"task.created"> => ({
  type: "task.created",
  task: {
    id: dice.pick(tasks),
    kind: "subagent",
    display_name: "T",
    spec: null,
    state: dice.pick(["queued", "running"]),
    wake_policy: dice.pick(["silent", "on_terminal", "on_activity"]),
  },
});

const updates: readonly Update[] = [
  { state: "running", progress: { current: 1, total: 2 } },
  { state: "awaiting_input", input_request: { id: "req_1", prompt: "which?" } },
  { state: "succeeded", summary: "done" },
  { state: "failed" },
  { links: { resource_ids: ["a"] } },
];

const ofRun = ({ state }: SimScope, dice: Dice): Event | undefined => {
  const { run } = state.background;
  if (run?.phase !== "running" || run.outcome !== undefined) return undefined;
  const output = dice.list(2, () => ({ stream: "stdout", delta: "line\n" }) as const);
  return { type: "run.reported", attempt: run.attempt, detail: "at it", output };
};

const message = (dice: Dice, task_id: string): EventOf<"task.messaged">["message"] => ({
  id: `tmsg_${dice.below(100)}`,
  task_id,
  direction: dice.pick(["inbound", "outbound"]),
  content: [{ type: "text", text: "hello" }],
});

const ofTask = (dice: Dice, task: string): Event =>
  dice.pick<() => Event>([
    () => ({ type: "task.updated", task, update: dice.pick(updates) }),
    () => ({ type: "task.updated", task, update: dice.pick(updates) }),
    () => ({ type: "task.cancel_requested", task }),
    () => ({ type: "task.messaged", message: message(dice, task) }),
  ])();

/** Returns an event that a host or a worker would cause. */
export const backgroundWork = (scope: SimScope, { dice }: Environment): Event | undefined => {
  if (scope.id === processScopeId) return ofRun(scope, dice);
  const { background, schedules: known } = scope.state;
  const [task] = background.tasks.size === 0 ? [] : [dice.pick(background.tasks.keys())];
  if (task !== undefined && dice.isUnder(50)) return ofTask(dice, task);
  const standing = [...known.rows.values()].find(({ schedule }) => schedule.enabled)?.schedule.id;
  if (standing !== undefined && dice.isUnder(15)) return { type: "schedule.cancelled", schedule: standing };
  return dice.pick<() => Event>([
    () => ({ type: "schedule.requested", schedule: anySchedule(dice, scope.time, scope.state.scope.protocol) }),
    () => anyTask(dice),
    () => ({ type: "run.requested", ...anyRun(dice) }),
  ])();
};

/** Cancels a schedule: schedules fire for ever, and the simulation has to come to rest. */
export const endOfSchedule = ({ state }: SimScope): Event | undefined => {
  const row = state.schedules.rows.values().find(({ schedule }) => schedule.enabled);
  return row && { type: "schedule.cancelled", schedule: row.schedule.id };
};

const planned = (dice: Dice, { schedule, after }: CommandOf<"schedule.next">): Event => ({
  type: "schedule.planned",
  schedule,
  after,
  plan: dice.isUnder(85)
    ? { status: "next", at: after + 1 + dice.below(10_000), interval_s: dice.pick([300, 300, 1]) }
    : { status: "none", message: "no such time" },
});

/** Returns the driver's answer to a command, if it has one. */
export const answerToBackgroundWork = (dice: Dice, command: Command): Event | undefined => {
  switch (command.type) {
    case "permit.take": {
      const permit = dice.isUnder(80) ? ({ status: "granted" } as const) : ({ status: "refused", limit: 64 } as const);
      return { type: "permit.answered", run: command.run, permit };
    }
    case "artifacts.write":
      return { type: "artifacts.written", attempt: command.attempt, written: dice.isUnder(85) };
    case "schedule.next":
      return planned(dice, command);
    case "probe.run": {
      const { schedule, fire } = command;
      const outcome = dice.pick([
        { type: "succeeded", text: "ok" },
        { type: "failed", message: "no" },
        { type: "skipped" },
      ] as const);
      return { type: "probe.answered", schedule, fire, outcome };
    }
    case "session.tell":
      return { type: "session.told", key: command.key };
    default:
      return undefined;
  }
};

type Make = (scope: SimScope, dice: Dice) => Event | undefined;

const inSession =
  (make: Make): Make =>
  (scope, dice) =>
    scope.id === processScopeId || scope.state.deletion !== undefined ? undefined : make(scope, dice);

const terminal: ReadonlySet<string> = new Set(["succeeded", "failed", "canceled"]);

/** Invalid events of background work, by the expected rejection. */
export const invalidBackgroundWork: { readonly [C in RejectionCode]?: Make } = {
  wrong_scope: ({ id }, dice) => (id === processScopeId ? anyTask(dice) : undefined),
  run_unknown: () => ({ type: "permit.answered", run: "nobody", permit: { status: "granted" } }),
  run_exists: inSession(({ state: { background } }, dice) => {
    const asked = background.asked.values()[0];
    if (asked !== undefined) return { type: "run.requested", registration: asked.registration, hash: asked.hash };
    const { registration, hash } = anyRun(dice);
    const isThere = background.tasks.values().some(({ run }) => run?.run === registration.id);
    return isThere ? { type: "run.requested", registration, hash } : undefined;
  }),
  task_exists: inSession(({ state: { background } }, dice) => {
    const [id] = background.tasks.keys();
    return id === undefined ? undefined : { type: "task.created", task: { ...anyTask(dice).task, id } };
  }),
  task_unknown: inSession(() => ({ type: "task.cancel_requested", task: "nobody" })),
  task_ended: inSession(({ state: { background } }) => {
    const row = background.tasks.values().find(({ task }) => terminal.has(task.state));
    return row && { type: "task.cancel_requested", task: row.task.id };
  }),
  already_cancelled: inSession(({ state: { background } }) => {
    const row = background.tasks
      .values()
      .find(({ task }) => task.cancel_requested_at !== undefined && !terminal.has(task.state));
    return row && { type: "task.cancel_requested", task: row.task.id };
  }),
  schedule_exists: inSession(({ state: { schedules: known } }, dice) => {
    const [id] = known.rows.keys();
    return id === undefined ? undefined : { type: "schedule.requested", schedule: { ...anySchedule(dice, 0, 1), id } };
  }),
  schedule_unknown: () => ({ type: "schedule.cancelled", schedule: "nobody" }),
  schedule_unplanned: inSession(({ state: { schedules: known } }) => {
    const row = known.rows.values().find(({ asked }) => asked !== undefined);
    if (row?.asked === undefined) return undefined;
    const { after } = row.asked;
    return { type: "schedule.planned", schedule: row.schedule.id, after, plan: { status: "next", at: after } };
  }),
  schedule_ended: inSession(({ state: { schedules: known } }) => {
    const row = known.rows.values().find(({ schedule }) => !schedule.enabled);
    return row && { type: "schedule.cancelled", schedule: row.schedule.id };
  }),
  too_many_schedules: inSession(({ state: { schedules: known, scope } }, dice) => {
    const enabled = known.rows.values().filter(({ schedule }) => schedule.enabled).length;
    if (enabled < scope.options.max_schedules) return undefined;
    return { type: "schedule.requested", schedule: { ...anySchedule(dice, 0, 1), id: "sched_ff" } };
  }),
};
