/** `spawn_background`, called as by a model in a session of a runtime. */
import { describe, expect, it } from "vitest";
import { toolError } from "@pawl/runtime";
import { sessionTools } from "@pawl/tools";
import { ToolWorld, finished, runner } from "./world.ts";

interface Started {
  readonly run_id: string;
  readonly task_id: string;
  readonly status: string;
  readonly log_path: string;
  readonly result_path: string;
}

const quick = runner("work", async (_, sink) => {
  await sink.output("stdout", "Streaming\n");
  return finished("Background complete", { summary: "Background complete" });
});

const environmentSpec = (): never => {
  throw new Error("no environment");
};

const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name);

describe("a session", () => {
  it("has spawn_background once, requested or not, if one of its tools can run in the background", () => {
    const { tools, applied } = sessionTools({ tools: [quick] });
    expect(names(tools).filter((name) => name === "spawn_background")).toHaveLength(1);
    expect(applied).toEqual(["session_tasks", "session_schedule", "background_execution"]);
    expect(tools.find(({ name }) => name === "spawn_background")?.manifest?.category).toBe("Execution");
    const both = sessionTools({ tools: [quick], capabilities: ["background_execution"] });
    expect(names(both.tools).filter((name) => name === "spawn_background")).toHaveLength(1);
    expect(both.applied).toEqual(["background_execution"]);
    expect(names(sessionTools().tools)).not.toContain("spawn_background");
  });
});

describe("an immediate run", () => {
  it("returns at once, reaches succeeded, and signals its session once (behaviour 20)", async () => {
    const world = new ToolWorld();
    const process = world.begin([quick]);
    const { status, payload } = await world.call(process, "spawn_background", { tool: " work ", args: {} });
    const started = payload as Started;
    expect([status, started.status]).toEqual(["success", "running"]);
    expect(started.run_id).toMatch(/^bg_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    const waited = await world.call(process, "wait_task", { task_id: started.task_id });
    expect(waited.payload).toMatchObject({ timed_out: false, task: { state: "succeeded", wake_policy: "silent" } });
    const { task } = waited.payload as { readonly task: { readonly [time in "created_at" | "finished_at"]: string } };
    expect(Date.parse(task.finished_at) - Date.parse(task.created_at)).toBeLessThanOrEqual(2000);
    expect(world.heard.filter(({ text }) => text.includes("Background run completed"))).toHaveLength(1);
    expect(await world.text(started.log_path)).toBe("[stdout] Streaming\n");
    expect(JSON.parse(await world.text(started.result_path))).toEqual({ summary: "Background complete" });
  });

  it("that fails ends as failed, with its streamed output, also without a listener (behaviour 21)", async () => {
    const world = new ToolWorld();
    const failing = runner("work", async (_, sink) => {
      await sink.output("stderr", "it smells\n");
      return toolError("boom");
    });
    const { tools, host } = sessionTools({ files: () => world.files, tools: [failing], now: world.platform.now });
    const process = world.start(tools, { host });
    const started = (await world.call(process, "spawn_background", { tool: "work", args: {} })).payload as Started;
    const { payload } = await world.call(process, "wait_task", { task_id: started.task_id });
    expect(payload).toMatchObject({ task: { state: "failed", error: { message: "boom" } } });
    expect(JSON.parse(await world.text(started.result_path))).toEqual({ status: "failed", error: "boom" });
    expect(await world.text(started.log_path)).toBe("[stderr] it smells\n");
  });

  it("whose output is too long is cut with a note, and succeeds (behaviour 25)", async () => {
    const cap = 262_144;
    const world = new ToolWorld();
    const chatty = runner("work", async (_, sink) => {
      for (let i = 0; i < 6; i++) await sink.output("stdout", "x".repeat(100_000));
      return finished("done");
    });
    const process = world.begin([chatty]);
    const started = (await world.call(process, "spawn_background", { tool: "work", args: {} })).payload as Started;
    const { payload } = await world.call(process, "wait_task", { task_id: started.task_id });
    expect(payload).toMatchObject({ task: { state: "succeeded" } });
    const log = await world.text(started.log_path);
    expect(log).toContain("[system] background output truncated");
    expect(log.length).toBeLessThanOrEqual(cap + 128);
    expect(log.length).toBeGreaterThan(cap);
  });

  it("that blocks leaves room for four more, and a sixth is refused (behaviour 22)", async () => {
    const world = new ToolWorld();
    const release: (() => void)[] = [];
    const blocking = runner("work", async () => {
      await new Promise<void>((resolve) => void release.push(resolve));
      return finished("released");
    });
    const process = world.begin([blocking]);
    const tasks: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { payload } = await world.call(process, "spawn_background", { tool: "work", args: {} });
      tasks.push((payload as Started).task_id);
    }
    const sixth = await world.call(process, "spawn_background", { tool: "work", args: {} });
    expect(sixth).toMatchObject({
      status: "failure",
      payload: { message: expect.stringContaining("active background runs per session") },
    });
    for (const go of release) go();
    for (const id of tasks) {
      expect((await world.call(process, "wait_task", { task_id: id })).payload).toMatchObject({
        task: { state: "succeeded" },
      });
    }
    expect(process.runtime.background.places.holders()).toEqual([]);
  });

  it("that cannot be created tells the reason to the log alone", async () => {
    const world = new ToolWorld();
    const { tools, host } = sessionTools({ files: () => world.files, tools: [quick], now: world.platform.now });
    const thrown: unknown[] = [];
    const internalError = (_: string, error: unknown): void => void thrown.push(error);
    const process = world.start(tools, { host: { ...host, environmentSpec, internalError } });
    const { payload } = await world.call(process, "spawn_background", { tool: "work", args: {} });
    expect(payload).toMatchObject({ code: "tool_internal_error" });
    expect(thrown).toMatchObject([{ message: "Failed to create background run task: no environment" }]);
    expect(process.runtime.background.places.active).toBe(0);
  });

  it("is refused with its first problem", async () => {
    const world = new ToolWorld();
    const process = world.begin([quick]);
    const refused = async (args: { tool: string; args: {} }) =>
      ((await world.call(process, "spawn_background", args)).payload as { message: string }).message;
    expect(await refused({ tool: "nobody", args: {} })).toBe("Unknown tool: nobody");
    expect(await refused({ tool: "echo", args: {} })).toBe("Tool does not support background execution: echo");
    expect(await refused({ tool: "spawn_background", args: {} })).toBe(
      "spawn_background cannot target itself recursively",
    );
  });
});

describe("a monitor", () => {
  it("has a task, describes the run when it fires, and ends with its task (behaviour 26)", async () => {
    const world = new ToolWorld();
    const process = world.begin([quick]);
    const schedule = { cron_expression: "*/10 * * * *", timezone: "Europe/Kyiv" };
    const spawned = await world.call(process, "spawn_background", {
      tool: "work",
      args: { summary: "Background complete" },
      title: "Watch",
      schedule,
    });
    expect(spawned.payload).toMatchObject({ status: "scheduled", title: "Watch", ...schedule, enabled: true });
    world.platform.advance(600_000);
    await world.quiet();
    world.platform.advance(1);
    await world.quiet();
    expect(world.heard).toMatchObject([{ text: expect.stringContaining('"summary": "Background complete"') }]);
    const { task_id } = spawned.payload as Started;
    await world.call(process, "cancel_task", { task_id });
    const listed = await world.call(process, "list_schedules", {});
    expect(listed.payload).toMatchObject({ count: 1, schedules: [{ enabled: false, trigger_count: 1 }] });
  });
});
