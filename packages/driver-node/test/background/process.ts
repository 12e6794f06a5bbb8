/**
 * A host with background runs over a journal file, in a process that gets killed: `process.ts ORDER`. Each life
 * requests more runs and schedules, continues the earlier ones, and ends when all have ended.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type BackgroundHost, Runtime, ScopeLost, type SessionMessage } from "@pawl/runtime";
import { type HostRun } from "@pawl/runtime/driver";
import { isTerminal } from "@pawl/sansio-core/driver";
import { nodePlatform, sqliteJournal } from "../../src/index.ts";
import { roots } from "../kill/order.ts";
import { type Fate, Fates, fatedJournal } from "./fate.ts";
import { Outside } from "./outside.ts";
import { toolsOf } from "./tools.ts";

export interface Order {
  readonly folder: string;
  readonly life: number;
  readonly fate?: Fate;
}

const { folder, life, fate } = JSON.parse(process.argv[2] ?? "") as Order;
const outside = new Outside(folder);
const fates = new Fates(fate, join(folder, "fates.txt"));
const session = "s";
/** Fires after which a recurring schedule is cancelled. */
const fires = 2;
/** A schedule of this life: its next fire is computed when it is made, and at each fire. */
const ownCron = `${life} * * * *`;
let plans = 0;

/** Starts one run for each fire, however often the fire is reported. */
const onFire = async ({ key, schedule = "" }: SessionMessage): Promise<void> => {
  await runtime.background.spawn(session, { tool: "index", args: {}, title: "fired", key });
  if (Number(key.split(":").at(-1)) >= fires) await work.cancelSchedule(schedule);
};

const host: BackgroundHost = {
  artifacts: ({ log, result }) =>
    fates.around("artifacts", async () => {
      for (const { path, text } of [log, result]) outside.write(path, text);
    }),
  tell: (message) =>
    fates.around("tell", () =>
      message.schedule === undefined ? Promise.resolve(outside.note("told", message.key)) : onFire(message),
    ),
  plan: (expression, _timezone, after) => {
    if (expression === ownCron && (plans += 1) > 1) fates.fires();
    return { status: "next", at: after + 200 };
  },
  probe: ({ schedule, fire, arguments: args }) =>
    fates.around("probe", async () => {
      outside.note("probes", `${schedule} ${fire}`);
      return args === null ? { type: "skipped" } : { type: "succeeded", text: "seen" };
    }),
};

const runtime = new Runtime({
  roots,
  journal: fatedJournal(sqliteJournal(join(folder, "journal.db"), { commits: "inline", busyMs: 20_000 }), fates),
  platform: nodePlatform,
  tools: toolsOf(outside, fates),
  instance: `host-${life}`,
  lease: { ttlMs: 3000 },
  host,
  background: { reportMs: 10 },
  options: {
    maxRuns: 1000,
    maxSchedules: 1000,
    maxEndedTasks: 10_000,
    maxRunAttempts: 1000,
    resumePausesMs: Array.from({ length: 1000 }, () => 0),
    crashPausesMs: [],
    maxCrashes: 10_000,
    probes: true,
  },
});
const work = runtime.background.of(session);
const hex = (n: number): string => n.toString(16).padStart(32, "0");

const spawned = async (tool: string, more: Partial<HostRun> = {}): Promise<string> => {
  const answer = await runtime.background.spawn(session, { tool, args: {}, key: `${tool} ${life}`, ...more });
  if (answer.status === "refused") throw new Error(answer.message);
  return answer.task;
};

/** Makes a one-shot schedule with a probe, and a recurring one with messages. */
const scheduled = async (): Promise<void> => {
  const monitor = { title: "Watch", tool: "index", signal_on_completion: true };
  const task = (n: number): string => `task_${hex(n)}`;
  await work.schedule({
    id: `sched_${hex(life * 2)}`,
    description: "once",
    scheduled_at: Date.now() + 300,
    timezone: "UTC",
    monitor: { ...monitor, task: task(life * 2), arguments: {} },
  });
  await work.schedule({
    id: `sched_${hex(life * 2 + 1)}`,
    description: "again",
    cron_expression: ownCron,
    timezone: "UTC",
    monitor: { ...monitor, task: task(life * 2 + 1), arguments: null },
  });
};

/** Repeats an act: on a machine that stalls for seconds the lease may expire. */
const again = async <A>(act: () => Promise<A>): Promise<A> => {
  for (;;) {
    try {
      return await act();
    } catch (thrown) {
      if (!(thrown instanceof ScopeLost)) throw thrown;
    }
  }
};

const asked = async (): Promise<void> => {
  await Promise.all([spawned("index"), spawned("mail", { args: { life }, signal: false }), scheduled()]);
  const task = await spawned("endless");
  await pause(fate?.point === "renewal" ? 20_000 : 10); // The lease is renewed while the run continues.
  await work.cancel(task);
};

/** Cancels endless work of earlier lives, and one-shot schedules that were requested too late. */
const isAtRest = async (): Promise<boolean> => {
  const schedules = (await work.schedules()).filter(({ enabled }) => enabled);
  for (const { id, schedule_type: type, next_trigger_at: at } of schedules) {
    if (type === "oneshot" && at === undefined) await work.cancelSchedule(id);
  }
  const active = (await work.tasks()).filter(({ state }) => !isTerminal(state));
  for (const { id, display_name: title, cancel_requested_at: at } of active) {
    if (title.includes("endless") && at === undefined) await work.cancel(id);
  }
  const { state } = await runtime.session(session);
  return active.length === 0 && schedules.length === 0 && state.outbox.size === 0;
};

await runtime.recover();
await again(asked);
while (!(await again(isAtRest))) await pause(20);
if (runtime.background.places.active > 0) throw new Error("places are held, and nothing runs");
await runtime.close();
