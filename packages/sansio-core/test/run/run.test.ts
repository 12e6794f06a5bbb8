import { failureOutput, runtimeFailure } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { artifactsOf } from "../../src/run/finish.ts";
import { outstanding } from "../../src/machine.ts";
import { tool } from "../rig.ts";
import { Runs, home, outcome, runName, runOf, session, toolError } from "./world.ts";

const written = (world: Runs, cap = 262_144) => {
  const [command] = world.gave(home, "artifacts.write").slice(-1);
  if (command === undefined) throw new Error("no files are asked for");
  const reports = (world.logs.get(home) ?? []).flatMap((event) =>
    event.type === "run.reported" && event.attempt === command.attempt ? event.output : [],
  );
  return artifactsOf(command.outcome, reports, cap);
};

describe("a background run", () => {
  it("succeeds, tells its session once, and leaves what it wrote in its log (behaviour 20)", () => {
    const world = new Runs().spawn().deliver();
    expect(world.task).toMatchObject({ state: "running", kind: "background_tool", display_name: "Job", attempt: 1 });
    expect(world.gave(session, "spawn.answer").map(({ answer }) => answer)).toEqual([
      { status: "started", task: "task_1" },
    ]);
    world.tell(home, world.report({ output: [{ stream: "stdout", delta: "streamed" }], detail: "half" }));
    world.end(outcome("All done", { ok: true }));
    expect(written(world)).toEqual({ log: "[stdout] streamed", result: '{\n  "ok": true\n}' });
    expect(world.task).toMatchObject({
      state: "succeeded",
      summary: "All done",
      result_path: `/.background/${runName}/result.json`,
    });
    expect(world.told).toEqual([
      [
        "Background run completed.",
        `- run_id: ${runName}`,
        "- title: Job",
        "- tool: work",
        "- summary: All done",
        `- result_path: /.background/${runName}/result.json`,
        `- log_path: /.background/${runName}/output.log`,
      ].join("\n"),
    ]);
    expect(world.state(home).process?.status.state).toBe("completed");
    expect(world.gave(session, "permit.release")).toEqual([{ type: "permit.release", run: runName }]);
  });

  it.each([
    [1, {}],
    [2, { state_detail: "half", progress: { current: 0.5, total: 1 } }],
  ])("keeps what was shown of it last, under protocol %i: %j", (protocol, kept) => {
    for (const end of [outcome("All done", 1), toolError("boom")]) {
      const world = new Runs({}, protocol).spawn().deliver();
      world.tell(home, world.report({ detail: "half", progress: { current: 0.5, total: 1 } })).end(end);
      const { state_detail, progress } = world.task;
      expect({ state_detail, progress }).toEqual({ state_detail: undefined, progress: undefined, ...kept });
    }
  });

  it("that fails ends failed, with its log and a result that says so (behaviour 21)", () => {
    const world = new Runs().spawn().deliver();
    world.tell(home, world.report({ output: [{ stream: "stderr", delta: "oops" }] })).end(toolError("boom"));
    expect(written(world)).toEqual({
      log: "[stderr] oops",
      result: '{\n  "error": "boom",\n  "status": "failed"\n}',
    });
    expect(world.task).toMatchObject({ state: "failed", summary: "boom", error: { kind: "error", message: "boom" } });
  });

  it("that nobody wants to hear of ends in silence", () => {
    expect(new Runs().spawn({ signal: false }).deliver().end(outcome("S", 1)).told).toEqual([]);
  });

  it("shows nothing of an internal failure", () => {
    const world = new Runs().spawn().deliver();
    world.end(failureOutput(runtimeFailure("internal", "tool_threw", "secret password")));
    const hidden = "An internal error occurred while executing the tool";
    expect(world.task).toMatchObject({ state: "failed", summary: hidden, error: { message: hidden } });
    expect(JSON.stringify([world.told, written(world)])).not.toContain("secret");
  });

  it("whose output is too long keeps the first of it, and succeeds all the same (behaviour 25)", () => {
    const world = new Runs({ max_output: 100 }).spawn().deliver();
    world.tell(home, world.report({ output: [{ stream: "stdout", delta: "😀".repeat(200) }] }));
    expect(world.run.filled).toEqual({ length: 100, isTruncated: true });
    world.end(outcome("S", 1));
    const { log } = written(world, 100);
    expect(log).toContain("[system] background output truncated at 100 characters");
    expect([...log].length).toBeLessThanOrEqual(100 + 128);
    expect(world.task.state).toBe("succeeded");
  });

  it("whose files can not be written is failed, and says so; its session is told of the paths all the same", () => {
    const world = new Runs().spawn().deliver().end(outcome("S", 1), false);
    const message = "Run artifacts could not be written";
    expect(world.task).toMatchObject({ state: "failed", error: { kind: "artifact", message } });
    expect(world.task).not.toHaveProperty("result_path");
    expect(world.told[0]).toContain(`Background run failed.\n- run_id: ${runName}`);
    expect(world.told[0]?.split("\n")).toHaveLength(7);
    expect(world.state(home).process?.status.state).toBe("failed");
  });

  it("is asked for its files again by a new owner, and ends once", () => {
    const world = new Runs().spawn().deliver();
    const result = { type: "done", output: outcome("S", 1) } as const;
    world.tell(home, { type: "call.settled", call: `${runName}:c`, attempt: 1, run: 1, result, duration_ms: 1 });
    world.crash(home);
    expect(outstanding(world.state(home)).map(({ type }) => type)).toContain("artifacts.write");
    world.written();
    expect(world.offer(home, { type: "artifacts.written", attempt: 1, written: true })).toBe("wrong_phase");
    expect(world.offer(home, world.report())).toBe("wrong_phase");
    expect(world.told).toHaveLength(1);
  });
});

const other = (n: number): string => `bg_${String(n).padStart(32, "0")}`;
const many = (world: Runs, from: number, to: number): Runs => {
  for (let n = from; n <= to; n++) {
    if (!world.states.has(`process:${other(n)}`)) world.open(`process:${other(n)}`, [tool("work")]);
    world.spawn({ run: other(n), task: `task_${n}` });
  }
  return world;
};

describe("the places for runs", () => {
  it("are five in a session; the sixth is refused, and a place that is free again is taken (behaviour 22)", () => {
    const world = many(new Runs(), 1, 6);
    const answers = world.gave(session, "spawn.answer").map(({ answer }) => answer);
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 5 }, () => "started"), "refused"]);
    expect(answers[5]).toMatchObject({
      message:
        "Maximum 5 active background runs per session. Wait for an existing run to finish before starting another.",
    });
    expect(world.gave(session, "permit.release")).toEqual([{ type: "permit.release", run: other(6) }]);
    world.deliver().end(outcome("S", 1));
    many(world, 7, 7);
    expect(world.gave(session, "spawn.answer").at(-1)?.answer).toEqual({ status: "started", task: "task_7" });
  });

  it("are counted when the worker has answered: of those who race for the last, one has it", () => {
    const world = many(new Runs({ max_runs: 2 }), 1, 1);
    for (const n of [2, 3]) {
      world.tell(session, { type: "run.requested", ...runOf({ run: other(n), task: `task_${n}` }) });
    }
    for (const n of [3, 2])
      world.tell(session, { type: "permit.answered", run: other(n), permit: { status: "granted" } });
    expect(world.gave(session, "spawn.answer").map(({ run, answer }) => [run, answer.status])).toEqual([
      [other(1), "started"],
      [other(3), "started"],
      [other(2), "refused"],
    ]);
  });

  it("of the worker are asked for first, and the text shows the number in force", () => {
    const world = many(new Runs({ max_runs: 1 }), 1, 1);
    world.spawn({ run: other(2), task: "task_2" }, { status: "refused", limit: 3 });
    expect(world.gave(session, "spawn.answer").at(-1)?.answer).toEqual({
      status: "refused",
      message:
        "Worker is already running the maximum 3 active background runs. Try again after an existing run finishes.",
    });
    expect(world.gave(session, "permit.release")).toEqual([]);
  });

  it("are asked for again by a new owner, until they are answered", () => {
    const world = new Runs().tell(session, { type: "run.requested", ...runOf() }).crash(session);
    expect(outstanding(world.state(session))).toEqual([{ type: "permit.take", run: runName }]);
    world.tell(session, { type: "permit.answered", run: runName, permit: { status: "granted" } });
    expect(world.offer(session, { type: "permit.answered", run: runName, permit: { status: "granted" } })).toBe(
      "run_unknown",
    );
    expect(world.offer(session, { type: "run.requested", ...runOf() })).toBe("run_exists");
  });

  it("are free again where the process would not begin", () => {
    const world = new Runs();
    const { registration, hash } = runOf({ task: "task_9" });
    world.tell(home, { type: "process.registered", registration, hash }).spawn().deliver();
    expect(world.task).toMatchObject({ state: "failed", error: { kind: "error" } });
    expect(world.gave(session, "permit.release")).toHaveLength(1);
  });
});
