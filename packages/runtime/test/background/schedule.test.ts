/** Schedules and monitors: planned by the host's calendar, fired by the scope's clock, told to the session. */
import type { NewSchedule, ProbeOutcome } from "@pawl/sansio-core/driver";
import { describe, expect, it } from "vitest";
import type { HostPort } from "../../src/index.ts";
import type { Process } from "../world.ts";
import { BackgroundWorld } from "./world.ts";

const recurring = (id: string, more: Partial<NewSchedule> = {}): NewSchedule => ({
  id,
  description: `do ${id}`,
  cron_expression: "*/10 * * * *",
  timezone: "UTC",
  ...more,
});

const monitor = { task: "task_1", title: "Watch", tool: "look", arguments: {}, signal_on_completion: true };

const pass = async (world: BackgroundWorld, ms: number): Promise<void> => {
  await world.quiet();
  world.platform.advance(ms);
  await world.quiet();
  world.platform.advance(1); // Whoever left memory meanwhile is woken by a timer of its own.
  await world.quiet();
};

const begun = (host: Partial<HostPort> = {}): { readonly world: BackgroundWorld; readonly process: Process } => {
  const world = new BackgroundWorld();
  return { world, process: world.begin([], { host }) };
};

const calendar = (expression: string) =>
  expression === "bad"
    ? ({ status: "none", message: "invalid cron expression 'bad'" } as const)
    : ({ status: "next", at: 2_000_000_000_000, interval_s: expression === "* * * * *" ? 60 : 600 } as const);

describe("a schedule", () => {
  it("fires at its times, tells its session as its user would, and makes up for none that was missed", async () => {
    const { world, process } = begun();
    const work = process.runtime.background.of("s");
    expect(await work.schedule(recurring("sched_1"))).toMatchObject({ status: "created", task: null });
    await pass(world, 600_000);
    await pass(world, 6_000_000);
    expect(world.outside.heard).toEqual([
      { session: "s", key: "schedule:sched_1:1", text: "do sched_1", schedule: "sched_1" },
      { session: "s", key: "schedule:sched_1:2", text: "do sched_1", schedule: "sched_1" },
    ]);
    await work.cancelSchedule("sched_1");
    await pass(world, 6_000_000);
    expect(world.outside.heard).toHaveLength(2);
  });

  it("fires once, where it is to, also after its host was lost, and in the next one's time", async () => {
    const { world, process } = begun();
    const at = world.platform.now() + 60_000;
    const once: NewSchedule = { id: "sched_1", description: "once", scheduled_at: at, timezone: "UTC", monitor };
    expect(await process.runtime.background.of("s").schedule(once)).toMatchObject({ task: "task_1" });
    process.kill();
    await pass(world, 120_000);
    const next = world.begin([]);
    await next.runtime.recover();
    await pass(world, 0);
    expect(world.outside.heard.map(({ text }) => text)).toEqual(["once"]);
    const task = await next.runtime.background.of("s").task("task_1");
    expect(task).toMatchObject({ state: "succeeded", summary: "Scheduled monitor completed" });
    await pass(world, 120_000);
    expect(world.outside.heard).toHaveLength(1);
  });

  it("is refused by its calendar, by its session's number, and by how often it would fire", async () => {
    const { process } = begun({ plan: calendar });
    const work = process.runtime.background.of("s");
    const refused = async (schedule: NewSchedule) => (await work.schedule(schedule)) as { message?: string };
    expect(await refused(recurring("a", { cron_expression: "bad" }))).toMatchObject({
      message: "invalid cron expression 'bad'",
    });
    expect((await refused(recurring("a", { cron_expression: "* * * * *" }))).message).toContain(
      "expression fires every 60 seconds",
    );
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => work.schedule(recurring(`sched_${n}`))));
    expect(all.filter(({ status }) => status === "refused")).toEqual([
      { status: "refused", message: "Maximum 5 active schedules per session. Cancel an existing schedule first." },
    ]);
  });

  it("is not made by a host without a calendar, which ends none that stand", async () => {
    const { world, process } = begun();
    await process.runtime.background.of("s").schedule(recurring("sched_1"));
    process.kill();
    const { plan: _, ...deaf } = world.outside.host;
    const second = world.start([], { host: deaf });
    const work = second.runtime.background.of("s");
    expect(await work.schedule(recurring("sched_2"))).toMatchObject({ status: "refused" });
    await pass(world, 600_000);
    second.kill();
    const third = world.begin([]);
    await third.runtime.recover();
    await pass(world, 600_000);
    expect(world.outside.heard).toHaveLength(2);
  });

  it("is told until the host has it", async () => {
    let tries = 0;
    const tell = async (): Promise<void> => {
      tries += 1;
      if (tries < 3) throw new Error("not now");
    };
    const { world, process } = begun({ tell });
    await process.runtime.background.of("s").schedule(recurring("sched_1"));
    await pass(world, 600_000);
    for (let i = 0; i < 4; i++) await pass(world, 5000);
    expect(tries).toBe(3);
    expect((await process.runtime.session("s")).state.outbox.size).toBe(0);
  });
});

const fired = async (probe: HostPort["probe"]) => {
  const { world, process } = begun(probe === undefined ? {} : { probe });
  const work = process.runtime.background.of("s");
  await work.schedule(recurring("sched_1", { monitor }));
  await pass(world, 600_000);
  const said = await work.messages("task_1");
  return { world, work, said: said.map(({ content: [part] }) => (part?.type === "text" ? part.text : "")) };
};

const quiet = async (): Promise<ProbeOutcome> => ({ type: "succeeded", text: "all quiet" });

describe("a monitor", () => {
  it("is tried before anybody is bothered, and says what its tool said", async () => {
    const { world, said } = await fired(quiet);
    expect(said).toEqual([expect.stringMatching(/^Probe `look` succeeded at .*Z\.\n\nall quiet$/)]);
    expect(world.outside.heard).toEqual([]);
  });

  it("bothers its session where there is no probe, or it could not be tried", async () => {
    for (const probe of [undefined, () => Promise.reject(new Error("no such tool"))]) {
      const { world, said } = await fired(probe);
      expect(said).toEqual([expect.stringMatching(/^Monitor fired at /)]);
      expect(world.outside.heard).toHaveLength(1);
    }
  });

  it("stands without a task where its name is taken, and the log says so", async () => {
    const reports: string[] = [];
    const { process } = begun({ internalError: (what) => void reports.push(what) });
    const work = process.runtime.background.of("s");
    await work.create({ id: "task_1", kind: "other", display_name: "Other", spec: null });
    const made = await work.schedule(recurring("sched_1", { monitor }));
    expect(made).toMatchObject({ status: "created", task: null });
    expect(await work.schedule(recurring("sched_2"))).toMatchObject({ status: "created", task: null });
    expect(reports).toEqual(["Failed to create monitor task for schedule (best-effort)"]);
  });

  it("ends its schedule when its task is asked to end", async () => {
    const { world, work } = await fired(undefined);
    expect(await work.cancel("task_1")).toMatchObject({ state: "canceled", summary: "Monitor canceled" });
    await pass(world, 6_000_000);
    expect(world.outside.heard).toHaveLength(1);
    expect(await work.schedules()).toMatchObject([{ enabled: false, trigger_count: 1 }]);
  });
});

describe("a program's schedule", () => {
  const weekly = { key: "report", text: "write the report", cron: "*/10 * * * *" };

  it("is one however often its program starts, and tells its session its text", async () => {
    const { world, process } = begun();
    const made = await process.runtime.schedules.create("s", weekly);
    expect(made).toMatchObject({ text: "write the report", cron: "*/10 * * * *", isActive: true, fired: 0 });
    process.kill();
    const { runtime } = world.begin([]);
    const again = await runtime.schedules.create("s", weekly);
    expect(again.id).toBe(made.id);
    expect(again.nextAt).toBeInstanceOf(Date);
    await pass(world, 600_000);
    expect(world.outside.heard).toEqual([
      { session: "s", key: `schedule:${made.id}:1`, text: "write the report", schedule: made.id },
    ]);
    await runtime.schedules.cancel("s", made.id);
    expect(await runtime.schedules.list("s")).toMatchObject([{ id: made.id, isActive: false, fired: 1 }]);
  });

  it("fires after each interval, also after a restart, and makes up for nothing", async () => {
    const { world, process } = begun();
    const start = world.platform.now();
    const poll = { key: "poll", text: "look", every: "10m" };
    const made = await process.runtime.schedules.create("s", poll);
    expect(made).toMatchObject({ everyMs: 600_000, isActive: true, nextAt: new Date(start + 600_000) });
    expect(made).not.toHaveProperty("cron");
    await pass(world, 600_000);
    await pass(world, 600_000);
    expect(world.outside.heard).toHaveLength(2);
    process.kill();
    world.platform.advance(3_000_000);
    const { runtime } = world.begin([]);
    expect((await runtime.schedules.create("s", poll)).id).toBe(made.id);
    await pass(world, 1);
    expect(world.outside.heard).toHaveLength(3);
    const [now] = await runtime.schedules.list("s");
    expect(now).toMatchObject({ fired: 3, nextAt: new Date(start + 4_800_000) });
    await runtime.schedules.cancel("s", made.id);
    await pass(world, 6_000_000);
    expect(world.outside.heard).toHaveLength(3);
  });

  it("is refused where its interval is shorter than schedules of its session may have", async () => {
    const { process } = begun();
    const made = process.runtime.schedules.create("s", { key: "a", text: "now", every: 1000 });
    const message = "a schedule may fire once every 300 seconds at most, and was to fire every 1";
    await expect(made).rejects.toMatchObject({ code: "schedule_refused", message });
  });

  it("fires once at its time", async () => {
    const { world, process } = begun();
    const at = new Date(world.platform.now() + 60_000);
    const made = await process.runtime.schedules.create("s", { key: "once", text: "now", at });
    expect(made).toMatchObject({ at, nextAt: at, isActive: true });
    await pass(world, 120_000);
    expect(await process.runtime.schedules.list("s")).toMatchObject([{ fired: 1, isActive: false }]);
  });

  it.each([
    [{ key: " ", text: "now", at: new Date(1) }, "expected a `key` that is not blank"],
    [{ key: "a", text: "", at: new Date(1) }, "expected a `text` that is not blank"],
    [{ key: "a", text: "now" }, "expected one of `cron`, `every` and `at`, found 0"],
    [{ key: "a", text: "now", every: "1h", cron: "* * * * *" }, "expected one of `cron`, `every` and `at`, found 2"],
    [
      { key: "a", text: "now", every: "soon" },
      '`every`: expected whole milliseconds or a text like `2h 30m`, found "soon"',
    ],
    [{ key: "a", text: "now", every: 0 }, "`every`: expected whole milliseconds"],
    [{ key: "a", text: "now", at: new Date(Number.NaN) }, "`at` is no valid date"],
  ])("is refused: %j", async (request, message) => {
    const { process } = begun();
    const made = process.runtime.schedules.create("s", request);
    await expect(made).rejects.toMatchObject({ code: "invalid_argument", message: expect.stringContaining(message) });
  });

  it("is refused where its expression is none", async () => {
    const { process } = begun({ plan: calendar });
    const made = process.runtime.schedules.create("s", { key: "a", text: "now", cron: "bad" });
    await expect(made).rejects.toMatchObject({ code: "schedule_refused", message: "invalid cron expression 'bad'" });
  });
});
