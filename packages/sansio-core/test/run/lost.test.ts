import { describe, expect, it } from "vitest";
import { runOfAttempt } from "../../src/run/model.ts";
import { Runs, home, outcome, runName, session } from "./world.ts";

const lost = (of: Parameters<Runs["spawn"]>[0] = {}): Runs => new Runs().spawn(of).deliver().crash(home).deliver();

describe("a run whose owner is lost", () => {
  it("is begun again under the next attempt, with files of its own", () => {
    const world = lost();
    expect(world.task).toMatchObject({
      state: "running",
      attempt: 2,
      worker_id: "d2",
      state_detail: "re-attached (attempt 2)",
      links: { resource_ids: [runOfAttempt(runName, 2)] },
    });
    world
      .resume()
      .tell(home, world.report({ output: [{ stream: "o", delta: "x" }] }))
      .end(outcome("S", 1));
    expect(world.gave(home, "artifacts.write").at(-1)).toMatchObject({ attempt: 2, run: runOfAttempt(runName, 2) });
    expect(world.task).toMatchObject({
      state: "succeeded",
      attempt: 2,
      result_path: `/.background/${runOfAttempt(runName, 2)}/result.json`,
    });
    expect(world.told).toHaveLength(1);
    expect(world.told[0]).toContain(`- run_id: ${runOfAttempt(runName, 2)}`);
  });

  it("takes nothing more from the attempt before", () => {
    const world = lost().resume();
    expect(world.offer(home, world.report({ attempt: 1 }))).toBe("stale_attempt");
    expect(world.offer(home, { type: "artifacts.written", attempt: 1, written: true })).toBe("stale_attempt");
  });

  it("and that may not be run again is failed, once, with the reason", () => {
    const world = lost({ reattachable: false }).written();
    const message = "worker heartbeat stopped";
    expect(world.task).toMatchObject({ state: "failed", attempt: 2, error: { kind: "orphaned", message } });
    expect(world.told).toHaveLength(1);
    expect(world.state(home).process?.status.state).toBe("failed");
  });

  it("is begun three times, and then is failed", () => {
    const world = lost().resume().crash(home).resume().deliver();
    expect(world.task.attempt).toBe(3);
    world.crash(home).deliver().written();
    expect(world.task).toMatchObject({ state: "failed", attempt: 4, error: { kind: "orphaned" } });
  });

  it("while it was told to stop is canceled", () => {
    const world = new Runs().spawn().deliver().tell(session, { type: "task.cancel_requested", task: "task_1" });
    world.deliver().crash(home).deliver().written();
    expect(world.task).toMatchObject({ state: "canceled", attempt: 1 });
  });

  it("may be lost at any place, with its session: it ends once", () => {
    for (let place = 0; place < 6; place++) {
      const world = new Runs().spawn();
      const moves = [
        () => world.settle(),
        () => world.tell(home, world.report({ detail: "half" })),
        () => world.crash(home).settle().resume(),
        () => world.end(outcome("S", 1)),
        () => world.settle(),
      ];
      for (const [index, move] of moves.entries()) {
        if (index === place) world.crash(session);
        move();
      }
      world.settle();
      expect([place, world.task.state, world.told.length]).toEqual([place, "succeeded", 1]);
    }
  });
});
