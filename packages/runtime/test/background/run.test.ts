/** Background runs: begun, seen while they run, ended, and told of. */
import { describe, expect, it } from "vitest";
import { defineTool, toolError, internalError, connectionRequired, ToolError } from "../../src/index.ts";
import { BackgroundWorld, finished, runner, spawn } from "./world.ts";

describe("a background run", () => {
  it("reaches succeeded, tells its session once, and leaves what it streamed in its files", async () => {
    const world = new BackgroundWorld();
    const work = runner("work", async (_, sink) => {
      await sink.status("at it");
      await sink.output("stdout", "line one\n");
      await sink.output("stderr", "oops\n");
      return finished("all done", { n: 1 });
    });
    const process = world.begin([work]);
    const task = await spawn(process, "work");
    expect(await world.over(process, task)).toMatchObject({
      state: "succeeded",
      kind: "background_tool",
      display_name: "Background work",
      summary: "all done",
      attempt: 1,
    });
    await world.quiet();
    expect(world.outside.heard.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Background run completed\.\n- run_id: bg_[0-9a-f]{32}\n- title: Background work\n/),
    ]);
    expect(world.outside.ending("output.log")).toBe("[stdout] line one\n[stderr] oops\n");
    expect(world.outside.ending("result.json")).toBe('{\n  "n": 1\n}');
    expect(process.runtime.background.places.active).toBe(0);
    expect(process.runtime.background.places.holders()).toEqual([]);
    expect(world.outside.errors).toEqual([]);
  });

  it("is asked for by a body once, however often that runs, and its session goes on meanwhile", async () => {
    const world = new BackgroundWorld();
    let runs = 0;
    const work = runner("work", async () => {
      runs += 1;
      return finished("done");
    });
    const asker = defineTool({
      name: "ask",
      durable: true,
      execute: async (_, ctx) => {
        const spawned = await ctx.background.spawn({ tool: "work", args: {}, title: "Mine" });
        return spawned.status === "started" ? ctx.tasks.wait(spawned.task, 60_000) : spawned;
      },
    });
    const process = world.begin([work, asker]);
    const session = await process.runtime.session("s");
    const replied = session.request("r", [{ label: "c", tool: "ask", args: {} }]);
    for (let i = 0; i < 10; i++) {
      await world.quiet(20);
      world.platform.advance(300);
    }
    const [reply] = await replied;
    expect(reply?.output.outcome).toMatchObject({
      status: "success",
      payload: { state: "succeeded", display_name: "Mine", summary: "done" },
    });
    expect(runs).toBe(1);
  });

  it("is seen while it runs: status, progress, output, and who runs it", async () => {
    const world = new BackgroundWorld();
    const work = runner("work", async (_, sink) => {
      await sink.progress({ current: 1, total: 4, unit: "pages", label: "reading" });
      await sink.status("reading");
      await sink.output("stdout", "page 1\n");
      await world.sleep(10_000);
      return finished("read");
    });
    const process = world.begin([work]);
    const watching = (await process.runtime.session("s")).observe();
    const frames: unknown[] = [];
    void (async () => {
      for await (const frame of watching) frames.push(frame);
    })();
    const task = await spawn(process, "work");
    const seen = await world.until(process, task, ({ state_detail: detail }) => detail === "reading");
    expect(seen).toMatchObject({
      state: "running",
      state_detail: "reading",
      progress: { current: 1, total: 4, unit: "pages", label: "reading" },
      worker_id: "p1",
      heartbeat_at: expect.any(Number),
    });
    expect(frames).toContainEqual({
      type: "ephemeral",
      observation: expect.objectContaining({ type: "run", task, output: { stream: "stdout", delta: "page 1\n" } }),
    });
    await world.over(process, task);
    await watching.return();
  });

  it("is recorded at most once a second, and its last word always", async () => {
    const world = new BackgroundWorld();
    const work = runner("work", async (_, sink) => {
      for (let i = 1; i <= 50; i++) {
        await sink.progress({ current: i, total: 50 });
        await world.sleep(100);
      }
      await sink.status("last word");
      return finished("done");
    });
    const process = world.begin([work]);
    const task = await spawn(process, "work");
    for (let i = 0; i < 60; i++) {
      await world.quiet(6);
      world.platform.advance(100);
    }
    await world.over(process, task);
    const [entry] = await world.journal.scopes("process:", "", 1);
    const lines = await world.journal.read(entry?.scope ?? "", 1);
    const reports = lines.filter(({ line }) => line.includes('"run.reported"'));
    expect(reports.length).toBeGreaterThan(3);
    expect(reports.length).toBeLessThan(9);
    expect(reports.at(-1)?.line).toContain("last word");
  });
});

const ends = async (body: () => Promise<unknown>) => {
  const world = new BackgroundWorld();
  const process = world.begin([
    runner("work", async (_, sink) => {
      await sink.output("stderr", "boom is near\n");
      return body();
    }),
  ]);
  const task = await world.over(process, await spawn(process, "work"));
  await world.quiet();
  return { task, world, result: world.outside.ending("result.json") };
};

const noRoom = (): Promise<never> => Promise.reject(new Error("disk full"));

describe("a background run that fails", () => {
  it("says so in its task, its result and its message, and keeps what it streamed", async () => {
    const { task, world, result } = await ends(async () => toolError("boom"));
    expect(task).toMatchObject({ state: "failed", summary: "boom", error: { kind: "error", message: "boom" } });
    expect(JSON.parse(result ?? "")).toEqual({ status: "failed", error: "boom" });
    expect(world.outside.ending("output.log")).toBe("[stderr] boom is near\n");
    expect(world.outside.heard[0]?.text).toContain("Background run failed.");
  });

  it("shows nothing of an internal error, which the host's log has in full", async () => {
    const { task, world, result } = await ends(async () => internalError(new Error("secret")));
    expect(task.summary).toBe("An internal error occurred while executing the tool");
    expect(`${result}${world.outside.heard[0]?.text}`).not.toContain("secret");
    expect(world.outside.errors.join()).toContain("secret");
    const thrown = await ends(() => Promise.reject(new Error("secret")));
    expect(thrown.task.summary).toBe("An internal error occurred while executing the tool");
  });

  it("needs a connection that nobody makes for it, or ends as no failure does", async () => {
    const connection = await ends(async () => connectionRequired("mail"));
    expect(connection.task.summary).toBe("Background tool requires connection setup: mail");
    const thrown = await ends(() => Promise.reject(new ToolError("canceled")));
    expect(thrown.task).toMatchObject({ state: "failed", summary: "canceled" });
  });

  it("for want of its files ends as failed, and says so", async () => {
    const world = new BackgroundWorld();
    const process = world.begin([runner("work", async () => finished("done"))], { host: { artifacts: noRoom } });
    const task = await world.over(process, await spawn(process, "work"));
    expect(task).toMatchObject({
      state: "failed",
      error: { kind: "artifact", message: "Run artifacts could not be written" },
    });
    expect(task.result_path).toBeUndefined();
    await world.quiet();
    expect(world.outside.heard[0]?.text).toContain("- result_path: /.background/bg_");
    expect(world.outside.errors).toEqual(["Background run finalization failed: disk full"]);
  });
});
