/** How many background runs there are at once: of a session, and of a worker. */
import { expect, it } from "vitest";
import { BackgroundWorld, finished, runner, spawn } from "./world.ts";

/** Runs that end when they are told. */
const blocking = () => {
  const release: (() => void)[] = [];
  const tool = runner("block", async () => {
    await new Promise<void>((resolve) => void release.push(resolve));
    return finished("released");
  });
  return { tool, release };
};

it("of a session five run; a sixth is refused, and the places are free when they have ended (behaviour 22)", async () => {
  const world = new BackgroundWorld();
  const { tool, release } = blocking();
  const process = world.begin([tool]);
  const asked = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => spawn(process, "block")));
  const tasks = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const refused = asked.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  expect(tasks).toHaveLength(5);
  expect(refused).toEqual([expect.stringContaining("Maximum 5 active background runs per session")]);
  await world.quiet();
  expect(process.runtime.background.places.heldBy("session:s")).toBe(5);
  for (const go of release) go();
  for (const task of tasks) expect((await world.over(process, task)).state).toBe("succeeded");
  expect(process.runtime.background.places.holders()).toEqual([]);
  await spawn(process, "block");
  process.kill();
});

it("of a worker there are as many as its option says, over all sessions", async () => {
  const world = new BackgroundWorld();
  const { tool, release } = blocking();
  const process = world.begin([tool], { background: { workerRuns: 2 } });
  const tasks = [await spawn(process, "block", "a"), await spawn(process, "block", "b")];
  await expect(spawn(process, "block", "c")).rejects.toThrow(
    "Worker is already running the maximum 2 active background runs. Try again after an existing run finishes.",
  );
  await world.quiet();
  for (const go of release) go();
  await world.over(process, tasks[0] ?? "", "a");
  expect(await spawn(process, "block", "c")).toMatch(/^task_/);
});

/** Two runs of two sessions, lost by their worker, for the one place that the next worker has. */
const lostForOnePlace = async () => {
  const world = new BackgroundWorld();
  const { tool, release } = blocking();
  const first = world.begin([tool]);
  const lost = [await spawn(first, "block", "a"), await spawn(first, "block", "b")];
  await world.quiet();
  first.kill();
  release.length = 0;
  const process = world.begin([tool], { background: { workerRuns: 1 } });
  await process.runtime.recover();
  await world.quiet();
  return { world, process, release, lost };
};

it("a lost run waits for a place, says so, and goes on when one is free", async () => {
  const { world, process, release, lost } = await lostForOnePlace();
  const seen = await Promise.all(lost.map(async (task, i) => process.runtime.background.of("ab"[i] ?? "").task(task)));
  const waiting = seen.findIndex(
    (task) => task?.state_detail === "worker background run limit reached; re-attach deferred",
  );
  expect(waiting).toBeGreaterThanOrEqual(0);
  for (let i = 0; i < 2; i++) {
    await world.quiet();
    for (const go of release.splice(0)) go();
  }
  for (const [i, task] of lost.entries()) {
    expect(await world.over(process, task, "ab"[i])).toMatchObject({ state: "succeeded", attempt: 2 });
  }
  expect(process.runtime.background.places.active).toBe(0);
});

it("a run that is canceled while it waits for a place leaves none behind", async () => {
  const { world, process, lost } = await lostForOnePlace();
  for (const [i, task] of lost.entries()) await process.runtime.background.of("ab"[i] ?? "").cancel(task);
  for (const [i, task] of lost.entries()) {
    expect(await world.over(process, task, "ab"[i])).toMatchObject({
      state: "canceled",
      summary: "Canceled by request.",
    });
  }
  await world.quiet();
  expect(process.runtime.background.places.active).toBe(0);
});
