import type { JsonObject } from "@pawl/tool-value";
import { createSchedule } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import {
  type SpawnPlace,
  type Target,
  defaultRegistry,
  monitorDescription,
  scheduledText,
  titleOf,
  validateSpawn,
} from "@pawl/tools";
import { decideReattach } from "@pawl/runtime/driver";

const bg: Target = { name: "bg", displayName: "Bg", hints: { supports_background: true }, hasExecutor: true };
const everything: SpawnPlace = {
  tool: (name) => (name === "bg" ? bg : undefined),
  tasks: true,
  files: true,
  schedules: true,
};
const asked = (more: JsonObject = {}, place: Partial<SpawnPlace> = {}) =>
  validateSpawn({ tool: "bg", args: { summary: "Background complete" }, ...more }, { ...everything, ...place });
const refusal = (of: E.Either<string, unknown>): string => (E.isLeft(of) ? of.left : "accepted");

describe("a background run is refused", () => {
  it("without a context, before its arguments are checked", () => {
    expect(refusal(validateSpawn({}, undefined))).toBe(
      "spawn_background requires context. This tool must be executed with session context.",
    );
  });
  it("without a task registry (behaviour 23)", () => {
    expect(refusal(asked({}, { tasks: false }))).toContain("Session task registry not available");
  });
  it("without a file store (behaviour 24)", () => {
    expect(refusal(asked({}, { files: false }))).toContain("Session file store not available");
  });
  it("if its time is not RFC 3339, before anything else is checked (behaviour 27)", () => {
    const schedule = { scheduled_at: "tomorrow" };
    expect(refusal(asked({ schedule }, { schedules: false }))).toContain("scheduled_at must be RFC3339");
    expect(refusal(asked({ schedule: null }))).toBe("schedule must be an object");
  });
  it("if its schedule is both recurring and one-shot (behaviour 28)", () => {
    const schedule = { cron_expression: "0 * * * *", scheduled_at: "2026-04-16T15:30:00Z" };
    expect(refusal(asked({ schedule }))).toContain("must not include both cron_expression and scheduled_at");
  });
});

const titled = (title: string, displayName: string) => titleOf(title, { name: "bg", displayName });

describe("a title", () => {
  it("is the given one, trimmed, or the tool's own, or made from the tool's name", () => {
    expect([titled(" T ", "D"), titled(" ", " D "), titled("", " ")]).toEqual(["T", " D ", "Background bg"]);
  });
});

describe("a monitor", () => {
  it("needs no task registry and no files, and describes the run when it fires (behaviour 26)", () => {
    const schedule = { cron_expression: "*/10 * * * *", timezone: "UTC" };
    const spawn = asked({ schedule, title: "Watch" }, { tasks: false, files: false });
    if (E.isLeft(spawn)) throw new Error(spawn.left);
    const description = monitorDescription(spawn.right);
    expect(description).toContain("Monitor: Watch");
    expect(description).toContain('"summary": "Background complete"');
    const { cron = "", timezone } = spawn.right.schedule ?? { timezone: "" };
    const made = createSchedule({ id: "sched_1", description, cron_expression: cron, timezone }, "s", 0);
    expect(scheduledText(spawn.right, made, null)).toMatchObject({
      status: "scheduled",
      title: "Watch",
      cron_expression: "*/10 * * * *",
      timezone: "UTC",
      task_id: null,
    });
  });
});

describe("a lost run is not started again", () => {
  const place = {
    files: true,
    tasks: true,
    resolve: (name: string): Target | undefined => {
      const tool = defaultRegistry().get(name);
      return tool === undefined ? undefined : { name, hints: tool.hints ?? {}, hasExecutor: false };
    },
    isWorkerFull: false,
    isSessionFull: false,
  };
  it("without files (behaviour 32)", () => {
    expect(refusal(decideReattach({}, { ...place, files: false }))).toContain("file store");
  });
  it("without tasks (behaviour 33)", () => {
    expect(refusal(decideReattach({}, { ...place, tasks: false }))).toContain("task registry");
  });
  it("if its tool is not there (behaviour 34)", () => {
    expect(refusal(decideReattach({ tool: "bash" }, place))).toContain("not found in built-in registry");
  });
  it("if its task does not name its tool (behaviour 35)", () => {
    expect(refusal(decideReattach({ arguments: {} }, place))).toContain("missing 'tool' field");
  });
});
