/** What happens to background runs, tasks and schedules: any event of them, and what a driver would answer. */
import type { RunDefinition } from "../../src/run/model.ts";
import type { NewTask, TaskUpdate } from "../../src/message/task.ts";
import type { Command, Event, EventType, State } from "../../src/kernel/vocabulary.ts";
import { registrationHash } from "../../src/process/hash.ts";
import type { ProcessRegistration } from "../../src/process/model.ts";
import { checkRegistration } from "../../src/process/registration.ts";
import { outstanding } from "../../src/machine.ts";
import { registration, right } from "../process/world.ts";
import type { Dice } from "./dice.ts";
import { anyJson, anyText } from "./value.ts";
import { type Make, Names } from "./names.ts";

const runs = ["p1", "p2"] as const;
const tasks = ["task_1", "task_2", "task_3"] as const;
const schedules = ["sched_0a", "sched_0b", "sched_0c"] as const;

const anyDefinition = (dice: Dice): RunDefinition => ({
  task: dice.pick(tasks),
  tool: "t0",
  arguments: anyJson(dice),
  reattachable: dice.isUnder(70),
  signal_on_completion: dice.isUnder(70),
});

/** A process that is a background run. */
export const anyRun = (dice: Dice): { readonly registration: ProcessRegistration; readonly hash: string } => {
  const tool = dice.pick(["t0", "t1", "t2"]);
  const call = { call_id: "c", tool_id: `tool:${tool}`, tool_name: tool, args: { n: 1 }, prepared_payload: null };
  const made = checkRegistration(
    registration([], {
      id: dice.pick(runs),
      env_ref: "process-env:sha256:0",
      identity: { kind: "background_tool", label: "Job", definition: { ...anyDefinition(dice) } },
      input: { type: "tool_call", call },
    }),
  );
  return { registration: right(made), hash: registrationHash(right(made)) };
};

const anyState = (dice: Dice): NonNullable<NewTask["state"]> =>
  dice.pick(["queued", "running", "awaiting_input", "succeeded", "failed", "canceled"]);

const anyNewTask = (dice: Dice): NewTask => ({
  id: dice.pick(tasks),
  kind: dice.pick(["subagent", "external_agent"]),
  display_name: anyText(dice),
  spec: anyJson(dice),
  state: dice.pick(["queued", "running", "succeeded"]),
  wake_policy: dice.pick(["silent", "on_terminal", "on_activity"]),
});

export const anyUpdate = (dice: Dice): TaskUpdate => ({
  ...(dice.isUnder(50) ? { state: anyState(dice) } : {}),
  ...(dice.isUnder(30) ? { input_request: { id: "req_1", prompt: "which?" } } : {}),
  ...(dice.isUnder(30) ? { summary: anyText(dice) } : {}),
  ...(dice.isUnder(30) ? { progress: { current: dice.pick([1, 0.5, -1]), total: 2 } } : {}),
  ...(dice.isUnder(30) ? { links: { resource_ids: [dice.pick(["a", "b"])] } } : {}),
  ...(dice.isUnder(30) ? { expected_attempt: 1 + dice.below(2) } : {}),
  ...(dice.isUnder(20) ? { increment_attempt: true } : {}),
});

const anySchedule = (dice: Dice, { at }: State) => {
  const id = dice.pick(schedules);
  const monitor = {
    task: dice.pick(tasks),
    title: "M",
    tool: "t0",
    arguments: anyJson(dice),
    signal_on_completion: true,
  };
  const when = dice.pick([
    { cron_expression: "*/10 * * * *" },
    { cron_expression: "*/10 * * * *" },
    { scheduled_at: at + dice.pick([1, 50, 1000]) },
    { scheduled_at: Math.max(0, at - 1) },
    { every_ms: dice.pick([0, 1000, 300_000]) },
    {},
  ]);
  return { id, description: "do it", timezone: "UTC", ...when, ...(dice.isUnder(50) ? { monitor } : {}) };
};

const idOfCommand = (state: State, type: Command["type"]): Command | undefined =>
  outstanding(state).find((command) => command.type === type);

/** The driver's answer to a command, or one beside it. */
export const answerToLongWork = (command: Command, dice?: Dice): Event | undefined => {
  switch (command.type) {
    case "permit.take": {
      const isGranted = dice === undefined || dice.isUnder(85);
      const permit = isGranted ? ({ status: "granted" } as const) : ({ status: "refused", limit: 64 } as const);
      return { type: "permit.answered", run: command.run, permit };
    }
    case "artifacts.write":
      return { type: "artifacts.written", attempt: command.attempt, written: dice === undefined || dice.isUnder(85) };
    case "schedule.next": {
      const { schedule, after } = command;
      const next = { status: "next", at: after + 1 + (dice?.below(1000) ?? 0), interval_s: 300 } as const;
      const none = { status: "none", message: "no such time" } as const;
      return { type: "schedule.planned", schedule, after, plan: dice?.isUnder(85) ? next : none };
    }
    case "probe.run": {
      const { schedule, fire } = command;
      const outcome = dice?.pick([
        { type: "succeeded", text: "ok" },
        { type: "failed", message: "no" },
        { type: "skipped" },
      ] as const) ?? { type: "skipped" };
      return { type: "probe.answered", schedule, fire, outcome };
    }
    case "session.tell":
      return { type: "session.told", key: command.key };
    default:
      return undefined;
  }
};

type LongWorkType = Extract<
  EventType,
  | `run.${string}`
  | `permit.${string}`
  | `artifacts.${string}`
  | `task.${string}`
  | `schedule.${string}`
  | `probe.${string}`
  | "session.told"
>;

export const longWorkMakers: { readonly [T in LongWorkType]: Make<T> } = {
  "session.told": (names) => ({ key: names.outbox() }),
  "run.requested": ({ dice }) => anyRun(dice),
  "permit.answered": ({ dice, state }: Names) => {
    const asked = idOfCommand(state, "permit.take");
    const run = asked?.type === "permit.take" ? asked.run : dice.pick(runs);
    return { run, permit: dice.pick([{ status: "granted" }, { status: "refused", limit: 1 }] as const) };
  },
  "run.reported": ({ dice, state }: Names) => ({
    attempt: (state.background.run?.attempt ?? 1) + dice.pick([0, 0, 0, 1]),
    ...(dice.isUnder(50) ? { detail: anyText(dice) } : {}),
    ...(dice.isUnder(50) ? { progress: { current: dice.below(3), unit: "files" } } : {}),
    output: dice.list(3, () => ({
      stream: dice.pick(["stdout", "stderr"]),
      delta: dice.pick(["", "a", "long 😀 text"]),
    })),
  }),
  "artifacts.written": ({ dice, state }: Names) => ({
    attempt: (state.background.run?.attempt ?? 1) + dice.pick([0, 0, 0, 1]),
    written: dice.isUnder(80),
  }),
  "task.created": ({ dice }) => ({ task: anyNewTask(dice) }),
  "task.updated": ({ dice }) => ({ task: dice.pick(tasks), update: anyUpdate(dice) }),
  "task.cancel_requested": ({ dice }) => ({ task: dice.pick(tasks) }),
  "task.messaged": ({ dice, state }: Names) => ({
    message: {
      id: `tmsg_${dice.isUnder(80) ? state.seq : 1}`,
      task_id: dice.pick(tasks),
      direction: dice.pick(["inbound", "outbound"] as const),
      content: dice.pick([[{ type: "text", text: "hi" }], [{ type: "data", data: { n: 1 } }], []] as const),
      ...(dice.isUnder(50) ? { in_reply_to: "req_1" } : {}),
    },
    ...(dice.isUnder(20) ? { expected_attempt: 1 } : {}),
  }),
  "schedule.requested": ({ dice, state }: Names) => ({ schedule: anySchedule(dice, state) }),
  "schedule.planned": ({ dice, state }: Names) => ({
    schedule: dice.pick(schedules),
    after: state.at,
    plan: dice.pick([
      { status: "next", at: state.at + 500, interval_s: 300 },
      { status: "next", at: state.at + 500, interval_s: 1 },
      { status: "next", at: state.at },
      { status: "none", message: "never" },
    ] as const),
  }),
  "schedule.cancelled": ({ dice }) => ({ schedule: dice.pick(schedules) }),
  "probe.answered": ({ dice }) => ({ schedule: dice.pick(schedules), fire: 1, outcome: { type: "skipped" } }),
};

/** Returns what happens next to a session's tasks and schedules, or to the run that a process is. */
export const ofLongWork = (dice: Dice, state: State): Event => {
  const owed = outstanding(state).flatMap((command) => answerToLongWork(command, dice) ?? []);
  if (owed.length > 0 && dice.isUnder(60)) return dice.pick(owed);
  const names = new Names(dice, state);
  const type: LongWorkType =
    state.background.run === undefined
      ? dice.pick([
          "run.requested",
          "task.created",
          "task.updated",
          "task.messaged",
          "schedule.requested",
          "schedule.requested",
          "task.cancel_requested",
          "schedule.cancelled",
        ])
      : dice.pick(["run.reported", "run.reported", "artifacts.written"]);
  return { type, ...longWorkMakers[type](names) } as Event;
};
