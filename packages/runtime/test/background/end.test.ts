/** How runs end that somebody cancels, or whose owner is lost. */
import { describe, expect, it } from "vitest";
import type { Task } from "@pawl/sansio-core/driver";
import { cancelled, done, failureOutput, runtimeFailure } from "@pawl/tool-value";
import type { ToolDefinition } from "../../src/index.ts";
import { BackgroundWorld, type Body, finished, runner, spawn } from "./world.ts";

describe("a run that is asked to end", () => {
  it("is canceled in its task, its result and its log, and has a heartbeat before (behaviour 31)", async () => {
    const world = new BackgroundWorld();
    const work = runner("sleep", async (_, sink) => {
      await sink.output("stdout", "zzz\n");
      await world.sleep(3_600_000);
      return finished("never");
    });
    const process = world.begin([work]);
    const { task } = (await process.runtime.background.spawn("s", { tool: "sleep", args: {}, signal: false })) as {
      task: string;
    };
    const seen = await world.until(process, task, ({ heartbeat_at: at }) => at !== undefined);
    expect(seen.heartbeat_at).toBeGreaterThanOrEqual(seen.started_at ?? Infinity);
    expect(seen.heartbeat_at).toBeLessThanOrEqual((seen.started_at ?? 0) + 5000);
    await process.runtime.background.of("s").cancel(task);
    const over = await world.over(process, task);
    expect(over).toMatchObject({ state: "canceled", summary: "Canceled by request." });
    expect((over.finished_at ?? Infinity) - (over.cancel_requested_at ?? 0)).toBeLessThanOrEqual(10_000);
    expect(JSON.parse(world.outside.ending("result.json") ?? "")).toEqual({ status: "canceled" });
    expect(world.outside.ending("output.log")).toBe("[stdout] zzz\n\nCanceled by request.\n");
    expect(world.outside.heard).toEqual([]);
  });

  it("may say a last word, which is recorded, and what it says later is nobody's", async () => {
    const world = new BackgroundWorld();
    const work = runner("polite", async ({ signal }, sink) => {
      await sink.output("stdout", "begun\n");
      await new Promise<void>((resolve) => void signal.addEventListener("abort", () => resolve()));
      await sink.output("stdout", "cleaning up\n");
      await world.sleep(1_000_000);
      await sink.output("stdout", "zombie\n");
      return finished("too late");
    });
    const process = world.begin([work]);
    const task = await spawn(process, "polite");
    await world.quiet();
    await process.runtime.background.of("s").cancel(task);
    await world.over(process, task);
    world.platform.advance(2_000_000);
    await world.quiet();
    expect(world.outside.ending("output.log")).toBe("[stdout] begun\n[stdout] cleaning up\n\nCanceled by request.\n");
  });
});

describe("who asks a run to end", () => {
  it("is answered how far it had come, as who asks for its task is", async () => {
    const world = new BackgroundWorld();
    const work = runner("count", async (_, sink) => {
      await sink.progress({ current: 3, total: 9, unit: "pages" });
      await world.sleep(3_600_000);
      return finished("never");
    });
    const process = world.begin([work]);
    const task = await spawn(process, "count");
    const { progress } = await world.until(process, task, (seen) => seen.progress !== undefined);
    expect(progress).toMatchObject({ current: 3, total: 9 });
    expect(await process.runtime.background.of("s").cancel(task)).toMatchObject({ state: "running", progress });
  });
});

describe("a run that is asked to end, and obeys", () => {
  it("is canceled, whatever it returns or throws then", async () => {
    for (const last of [() => finished("made it"), () => Promise.reject(new Error("stopped"))]) {
      const world = new BackgroundWorld();
      const work = runner("obedient", async ({ signal }) => {
        await new Promise<void>((resolve) => void signal.addEventListener("abort", () => resolve()));
        return last();
      });
      const process = world.begin([work]);
      const task = await spawn(process, "obedient");
      await world.quiet();
      await process.runtime.background.of("s").cancel(task);
      expect(await world.over(process, task)).toMatchObject({ state: "canceled", summary: "Canceled by request." });
      expect(JSON.parse(world.outside.ending("result.json") ?? "")).toEqual({ status: "canceled" });
    }
  });
});

interface Living {
  /** The hints of the tool in later processes. */
  readonly later?: { readonly idempotent?: boolean };
  readonly protocol?: number;
  readonly more?: Partial<ToolDefinition>;
}

const live = async (
  hints: { readonly idempotent?: boolean },
  lives: number,
  { later = hints, protocol = 2, more = {} }: Living = {},
): Promise<{ readonly task: Task; readonly world: BackgroundWorld; readonly runs: number }> => {
  const world = new BackgroundWorld(protocol);
  let runs = 0;
  const body: Body = async (_, sink) => {
    runs += 1;
    await sink.output("stdout", `attempt ${runs}\n`);
    await world.sleep(5_000);
    return finished(`done by attempt ${runs}`);
  };
  const tool = (own: typeof hints): ToolDefinition => ({ ...runner("work", body, own), ...more });
  let process = world.begin([tool(hints)]);
  const task = await spawn(process, "work");
  for (let life = 1; life < lives; life++) {
    await world.quiet();
    process.kill();
    process = world.begin([tool(later)]);
    await process.runtime.recover();
    for (let i = 0; i < 4; i++) {
      await world.quiet(20);
      world.platform.advance(1000);
    }
  }
  return { task: await world.over(process, task), world, runs };
};

describe("a run whose owner is lost", () => {
  it("is re-attached under its next attempt, whose output alone is kept", async () => {
    const { task, world } = await live({ idempotent: true }, 2);
    expect(task).toMatchObject({ state: "succeeded", attempt: 2, summary: "done by attempt 2" });
    expect(world.outside.ending("output.log")).toBe("[stdout] attempt 2\n");
    expect(task.links.resource_ids).toHaveLength(1);
    expect(task.result_path).toBe(`/.background/${task.links.resource_ids[0]}/result.json`);
    await world.quiet();
    expect(world.outside.heard).toHaveLength(1);
  });

  it("is failed as an orphan where its tool may not be run again", async () => {
    const { task, runs } = await live({ idempotent: false }, 2);
    expect(task).toMatchObject({
      state: "failed",
      error: { kind: "orphaned", message: "worker heartbeat stopped" },
    });
    expect(runs).toBe(1);
  });

  it("is failed as an orphan with the reason, where its tool is not what its task once said", async () => {
    const { task, runs } = await live({ idempotent: true }, 2, { later: { idempotent: false } });
    expect(task).toMatchObject({
      state: "failed",
      error: {
        kind: "orphaned",
        message:
          "worker heartbeat stopped; re-attach failed: " +
          "Tool execution error: tool 'work' is not idempotent or readonly; re-attach declined",
      },
    });
    expect(runs).toBe(1);
  });

  it("is begun three times at the most in protocol 1, and only for its hints", async () => {
    const { task } = await live({ idempotent: true }, 4, { protocol: 1 });
    expect(task).toMatchObject({ state: "failed", error: { kind: "orphaned" } });
    const durable = await live({ idempotent: false }, 2, { protocol: 1, more: { durable: true } });
    expect(durable.task).toMatchObject({ state: "failed", error: { kind: "orphaned" } });
  });

  it("is begun again as often as it takes, for whatever reason its tool may run again", async () => {
    const { task, runs } = await live({ idempotent: false }, 5, { more: { durable: true } });
    expect(task).toMatchObject({ state: "succeeded", attempt: runs, summary: `done by attempt ${runs}` });
    expect(runs).toBeGreaterThan(3);
  });

  it("is not imitated by a tool that returns the code of a loss", async () => {
    for (const [protocol, kind] of [
      [1, "orphaned"],
      [2, "error"],
    ] as const) {
      const world = new BackgroundWorld(protocol);
      const output = failureOutput(runtimeFailure("external", "tool_outcome_unknown", "I do not know"));
      const process = world.begin([runner("liar", async () => done(output))]);
      const task = await world.over(process, await spawn(process, "liar"));
      expect(task).toMatchObject({ state: "failed", error: { kind } });
    }
  });
});

describe("a run that sleeps durably", () => {
  it("is run again from the top when it wakes, and its output stands once", async () => {
    const world = new BackgroundWorld();
    let tops = 0;
    const work = runner(
      "nap",
      async (ctx, sink) => {
        tops += 1;
        await sink.output("stdout", "before\n");
        await ctx.sleep(60_000);
        await sink.output("stdout", "after\n");
        return finished("rested");
      },
      {},
    );
    const process = world.begin([{ ...work, durable: true }]);
    const task = await spawn(process, "nap");
    expect(await world.over(process, task)).toMatchObject({ state: "succeeded", attempt: 1 });
    expect(tops).toBe(2);
    expect(world.outside.ending("output.log")).toBe("[stdout] before\n[stdout] after\n");
  });
});

it("a run that says of itself that it was canceled has failed: only who is asked to end is canceled", async () => {
  const world = new BackgroundWorld();
  const process = world.begin([runner("pretends", async () => cancelled("canceled"))]);
  const over = await world.over(process, await spawn(process, "pretends"));
  expect(over).toMatchObject({ state: "failed", error: { kind: "error", message: "canceled" } });
  expect(JSON.parse(world.outside.ending("result.json") ?? "")).toEqual({ status: "failed", error: "canceled" });
});
