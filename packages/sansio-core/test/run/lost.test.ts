import { describe, expect, it } from "vitest";
import { runOfAttempt } from "../../src/run/model.ts";
import { failureOutput, runtimeFailure, toolFailure } from "@pawl/tool-value";
import type { Tool } from "../../src/catalog/model.ts";
import type { Options } from "../../src/kernel/options.ts";
import { protocols } from "../rig.ts";
import { Runs, home, outcome, runName, session } from "./world.ts";

const lost = (of: Parameters<Runs["spawn"]>[0] = {}, protocol?: number): Runs =>
  new Runs({}, protocol).spawn(of).deliver().crash(home).deliver();

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

  it("and that may not be run again is failed, once, with the reason, in protocol 1", () => {
    const world = lost({ reattachable: false }, 1).written();
    const message = "worker heartbeat stopped";
    expect(world.task).toMatchObject({ state: "failed", attempt: 2, error: { kind: "orphaned", message } });
    expect(world.told).toHaveLength(1);
    expect(world.state(home).process?.status.state).toBe("failed");
  });

  it("is begun three times, and then is failed, in protocol 1", () => {
    const world = lost({}, 1).resume().crash(home).resume().deliver();
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

/** Comes back after each crash, as its pause allows. */
const crashed = (world: Runs, times: number): Runs => {
  for (let n = 0; n < times; n++) {
    world.crash(home);
    world.at += 20_000;
    world.tell(home, { type: "clock.ticked" }).deliver().resume();
  }
  return world;
};

type Asked = Parameters<Runs["spawn"]>[0];

const young = (of: Asked = {}, options: Partial<Options> = {}, more: Partial<Tool> = {}): Runs =>
  new Runs(options, 2, more).spawn(of).deliver();

describe("a run of protocol 2 whose owner is lost", () => {
  it("is begun again for whatever reason its tool may run again, and as often as it takes", () => {
    const world = crashed(young({ reattachable: false }), 12);
    expect(world.task).toMatchObject({ state: "running", attempt: 13, state_detail: "re-attached (attempt 13)" });
    world.end(outcome("S", 1));
    expect(world.task).toMatchObject({ state: "succeeded", attempt: 13 });
    expect(world.told).toHaveLength(1);
  });

  it("pauses as any call that crashes, and is parked at the limit: its task says so, and a person ends it", () => {
    const world = crashed(young({}, { max_crashes: 3 }), 2)
      .crash(home)
      .deliver();
    const [row] = world.state(home).calls.rows();
    expect(row).toMatchObject({ phase: "unknown", cause: "crash_loop" });
    const detail = "parked: it crashed too often in a row, and waits for a decision";
    expect(world.task).toMatchObject({ state: "running", attempt: 3, state_detail: detail });
    const call = `${runName}:c`;
    world.tell(home, { type: "outcome.resolved", call, resolved: { type: "give_up" }, by: "p" }).written();
    const message = "worker heartbeat stopped; re-attach failed: it crashed too often in a row";
    expect(world.task).toMatchObject({ state: "failed", error: { kind: "orphaned", message } });
  });

  it("is orphaned at once where its tool may not run again", () => {
    const world = young({}, {}, { recovery: "owner_bound" }).crash(home).deliver().written();
    const error = { kind: "orphaned", message: "worker heartbeat stopped" };
    expect(world.task).toMatchObject({ state: "failed", error });
  });

  it("is orphaned with the reason where its driver says that it is not begun again", () => {
    const world = young().crash(home).deliver().resume();
    const output = failureOutput(runtimeFailure("unavailable", "reattach_refused", "no such tool"));
    world.end(output, true, { cause: "owner_lost" });
    const error = { kind: "orphaned", message: "worker heartbeat stopped; re-attach failed: no such tool" };
    expect(world.task).toMatchObject({ state: "failed", error });
  });
});

describe("a run whose tool returns the code of a loss", () => {
  const imitations = [
    failureOutput(toolFailure("external", "tool_outcome_unknown", "I do not know")),
    failureOutput(runtimeFailure("external", "tool_outcome_unknown", "I do not know")),
    failureOutput(runtimeFailure("unavailable", "reattach_refused", "I do not know")),
  ];

  it("has failed like any other in protocol 2; in protocol 1 it is taken for an orphan", () => {
    for (const protocol of protocols) {
      for (const imitation of imitations) {
        const world = new Runs({}, protocol).spawn().deliver().end(imitation);
        expect(world.task.error?.kind).toBe(protocol === 1 ? "orphaned" : "error");
      }
    }
  });
});
