import { describe, expect, it } from "vitest";
import { artifactsOf, outcomeOfOutput } from "../../src/run/finish.ts";
import { Runs, home, outcome, runName, session, toolError } from "./world.ts";

const reserved = "__everruns_background_cancel__";
const cancelled = (): Runs =>
  new Runs().spawn().deliver().tell(session, { type: "task.cancel_requested", task: "task_1" }).deliver();

describe("a cancel", () => {
  it("is no text: the reserved one is a failure like any other (behaviour 29, turned round)", () => {
    expect(outcomeOfOutput(toolError(reserved), 1)).toEqual({
      type: "failed",
      error: { kind: "error", message: reserved },
    });
    const world = new Runs().spawn().deliver().end(toolError(reserved));
    expect(world.task).toMatchObject({ state: "failed", summary: reserved });
  });

  it("is no other text either, and no success (behaviour 30, turned round)", () => {
    expect(outcomeOfOutput(toolError("canceled"), 1)).toMatchObject({ type: "failed" });
    expect(outcomeOfOutput(outcome(reserved, reserved), 1)).toMatchObject({ type: "succeeded" });
    expect(
      outcomeOfOutput({ outcome: { status: "cancelled", payload: { message: "m", source: "cancellation" } } }, 1),
    ).toEqual({ type: "canceled" });
  });

  it("ends a body that does not stop when its grace is over, and its files say so (behaviour 31)", () => {
    const world = cancelled();
    expect(world.task).toMatchObject({ state: "running", cancel_requested_at: world.at });
    expect(world.gave(home, "tool.cancel")).toHaveLength(1);
    world.at += 50;
    world.tell(home, { type: "clock.ticked" }).written();
    expect(world.task).toMatchObject({ state: "canceled", summary: "Canceled by request." });
    const [command] = world.gave(home, "artifacts.write");
    if (command === undefined) throw new Error("no files are asked for");
    expect(artifactsOf(command.outcome, [], 100)).toEqual({
      log: "\nCanceled by request.\n",
      result: '{\n  "status": "canceled"\n}',
    });
    expect(world.told[0]).toContain("Background run canceled.");
    expect(world.state(home).process?.status.state).toBe("cancelled");
  });

  it("that stands in the log before the call's end wins, whatever the body returns or throws", () => {
    for (const output of [outcome("made it", 1), toolError("stopped halfway")]) {
      const world = cancelled().end(output);
      expect(world.task).toMatchObject({ state: "canceled", summary: "Canceled by request." });
      expect(world.task.error).toBeUndefined();
      expect(world.gave(home, "artifacts.write")).toMatchObject([{ outcome: { type: "canceled" } }]);
      expect(world.told[0]).toContain("Background run canceled.");
    }
  });

  it("that comes after the end changes nothing, and a second one is none", () => {
    expect(cancelled().offer(session, { type: "task.cancel_requested", task: "task_1" })).toBe("already_cancelled");
    const world = new Runs().spawn().deliver();
    const result = { type: "done", output: outcome("S", 1) } as const;
    world.tell(home, { type: "call.settled", call: `${runName}:c`, attempt: 1, run: 1, result, duration_ms: 1 });
    world.tell(session, { type: "task.cancel_requested", task: "task_1" }).deliver().written();
    expect(world.task.state).toBe("succeeded");
    expect(world.offer(session, { type: "task.cancel_requested", task: "task_1" })).toBe("task_ended");
  });

  it("that comes before the tools are there leaves the files all the same", () => {
    const world = new Runs();
    world.states.delete(home);
    world.open(home).spawn().deliver().tell(session, { type: "task.cancel_requested", task: "task_1" }).deliver();
    world.written();
    expect(world.task.state).toBe("canceled");
  });

  it("of a process by its host ends the task as well", () => {
    const world = new Runs().spawn().deliver();
    const await_output = { type: "failure", class: "execution", code: "killed", message: "killed by hand" } as const;
    world.tell(home, {
      type: "process.event_appended",
      request: {
        event_type: "process.failed",
        payload: { await_output: { ...await_output } },
        replay: { key: `process:${runName}:terminal:process.failed` },
      },
      payload_hash: "h",
    });
    world.deliver();
    expect(world.task).toMatchObject({ state: "failed", summary: "killed by hand" });
    expect(world.task).not.toHaveProperty("result_path");
  });
});
