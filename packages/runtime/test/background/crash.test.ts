/** Runs and schedules under a host that dies before or after any of its appends. */
import type { Task } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import { deaths } from "../process/world.ts";
import type { Death, Process } from "../world.ts";
import { BackgroundWorld, finished, runner } from "./world.ts";

/** Lives host after host, the first of which dies so, until `isDone` says so. */
const live = async (
  world: BackgroundWorld,
  start: (death?: Death) => Process,
  { death, act, isDone }: { death: Death; act: (process: Process) => Promise<unknown>; isDone: () => Promise<boolean> },
): Promise<Process> => {
  for (let life = 0; life < 5; life++) {
    const process = start(life === 0 ? death : undefined);
    const acted = process.runtime
      .recover()
      .then(() => act(process))
      .catch((thrown: unknown) => {
        if (!process.isDead) throw thrown;
      });
    for (let i = 0; i < 30 && !process.isDead; i++) {
      await world.quiet(16);
      if (!process.isDead && i > 20 && (await isDone())) return acted.then(() => process);
      world.platform.advance(2_000);
    }
    process.kill();
  }
  throw new Error("it did not come to an end");
};

const ended = new Set(["succeeded", "failed", "canceled"]);

const lived = async (death: Death, act: (process: Process) => Promise<unknown>, idempotent = true) => {
  const world = new BackgroundWorld();
  const work = runner(
    "work",
    async ({ signal }, sink) => {
      await sink.output("stdout", "begun\n");
      await world.sleep(3_000);
      await sink.output("stdout", signal.aborted ? "stopped\n" : "done\n");
      return finished("worked");
    },
    { idempotent },
  );
  let process: Process | undefined;
  const tasks = (): Promise<readonly Task[]> => (process as Process).runtime.background.of("s").tasks();
  const last = await live(world, (how) => (process = world.begin([work], how && { death: how })), {
    death,
    act,
    isDone: async () => (await tasks()).every(({ state }) => ended.has(state)),
  });
  await world.quiet();
  const told = await last.runtime.session("s");
  return { world, last, tasks: await tasks(), state: told.state };
};

describe("a run", () => {
  const key = { tool: "work", args: {}, key: "one" };

  it("ends once, with its files and its message, wherever its host dies", async () => {
    for (const death of deaths(16)) {
      const { world, tasks, last, state } = await lived(death, ({ runtime }) => runtime.background.spawn("s", key));
      const at = `died ${death.when} append ${death.append}`;
      expect(tasks, at).toMatchObject([{ state: "succeeded", summary: "worked" }]);
      expect(world.outside.heard, at).toHaveLength(1);
      expect(state.outbox.size, at).toBe(0);
      expect(world.outside.files.get((tasks[0] as Task).result_path ?? ""), at).toBe('"worked"');
      expect(last.runtime.background.places.active, at).toBe(0);
      expect(
        world.outside.errors.filter((text) => !text.includes("was lost")),
        at,
      ).toEqual([]);
    }
  });

  it("that may not be run again ends once as well, worked or orphaned, wherever its host dies", async () => {
    for (const death of deaths(16)) {
      const { world, tasks } = await lived(death, ({ runtime }) => runtime.background.spawn("s", key), false);
      const at = `died ${death.when} append ${death.append}`;
      const [task] = tasks as readonly [Task];
      expect([task.summary, "worker heartbeat stopped"], at).toContain(
        task.state === "succeeded" ? "worked" : task.error?.message,
      );
      expect(world.outside.heard, at).toHaveLength(1);
    }
  });

  it("that is asked to end is canceled, or was done before, wherever its host dies", async () => {
    for (const death of deaths(18)) {
      const { world, tasks } = await lived(death, async ({ runtime }) => {
        const spawned = await runtime.background.spawn("s", key);
        if (spawned.status === "started") await runtime.background.of("s").cancel(spawned.task);
      });
      const at = `died ${death.when} append ${death.append}`;
      expect(["canceled", "succeeded"], at).toContain(tasks[0]?.state);
      expect(world.outside.heard, at).toHaveLength(1);
    }
  });
});

describe("a schedule", () => {
  it("fires once for each of its times, wherever its host dies", async () => {
    for (const death of deaths(10)) {
      const world = new BackgroundWorld();
      const begun = world.platform.now();
      const once = { id: "sched_1", description: "wake up", scheduled_at: begun + 20_000, timezone: "UTC" };
      const monitor = { task: "task_1", title: "Watch", tool: "look", arguments: {}, signal_on_completion: true };
      let process: Process | undefined;
      const last = await live(world, (how) => (process = world.begin([], how && { death: how })), {
        death,
        act: ({ runtime }) => runtime.background.of("s").schedule({ ...once, monitor }),
        isDone: async () => world.platform.now() > begun + 60_000 && process !== undefined,
      });
      const at = `died ${death.when} append ${death.append}`;
      expect(
        world.outside.heard.map(({ key }) => key),
        at,
      ).toEqual(["schedule:sched_1:1"]);
      const work = last.runtime.background.of("s");
      expect(await work.schedules(), at).toMatchObject([{ trigger_count: 1, enabled: false }]);
      expect(await work.task("task_1"), at).toMatchObject({ state: "succeeded" });
    }
  });
});
