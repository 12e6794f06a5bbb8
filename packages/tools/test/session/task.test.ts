/** The generic tools for tasks and schedules, called as by a model. */
import { describe, expect, it } from "vitest";
import type { Process } from "../../../runtime/test/world.ts";
import { ToolWorld } from "./world.ts";

const messageOf = ({ payload }: { payload: never }): string => (payload as { message: string }).message;

/** A task that another agent works on. */
const asking = async (): Promise<{ world: ToolWorld; process: Process; task: string }> => {
  const world = new ToolWorld();
  const process = world.begin();
  const work = process.runtime.background.of("s");
  const { id } = await work.create({ id: "task_1", kind: "subagent", display_name: "Ada", spec: {}, state: "running" });
  await work.update(id, { state: "awaiting_input", input_request: { id: "q1", prompt: "which?" } });
  return { world, process, task: id };
};

describe("tasks", () => {
  it("can be listed, shown, answered and cancelled by their tools", async () => {
    const { world, process, task } = await asking();
    const listed = await world.call(process, "list_tasks", { state: "awaiting_input" });
    expect(listed.payload).toMatchObject({ count: 1, tasks: [{ id: task, created_at: expect.stringMatching(/Z$/) }] });
    const answer = { task_id: task, text: "the red one", in_reply_to: "q1" };
    expect((await world.call(process, "message_task", answer)).payload).toMatchObject({ sent: true });
    const shown = await world.call(process, "get_task", { task_id: task });
    expect(shown.payload).toMatchObject({
      task: { state: "running" },
      messages: [{ direction: "inbound", content: [{ type: "text", text: "the red one" }] }],
    });
    const waited = await world.call(process, "wait_task", { task_id: task, timeout_seconds: 2 });
    expect(waited.payload).toMatchObject({ timed_out: true, task: { state: "running" } });
    await world.call(process, "cancel_task", { task_id: task });
    const asked = await world.call(process, "get_task", { task_id: task });
    expect(asked.payload).toMatchObject({ task: { cancel_requested_at: expect.stringMatching(/Z$/) } });
  });

  it("show all fields of their progress, also the missing ones", async () => {
    const { world, process, task } = await asking();
    await process.runtime.background.of("s").update(task, { progress: { current: 1, unit: "files" } });
    const { payload } = await world.call(process, "get_task", { task_id: task });
    const { task: shown } = payload as { readonly task: { readonly progress: unknown } };
    expect(shown.progress).toEqual({ current: 1, total: null, unit: "files", label: null });
  });

  it("that do not exist, or accept no messages, are refused with the reason", async () => {
    const { world, process } = await asking();
    expect(messageOf(await world.call(process, "get_task", { task_id: "task_9" }))).toBe("Task not found: task_9");
    const work = process.runtime.background.of("s");
    await work.create({ id: "task_2", kind: "monitor", display_name: "M", spec: {} });
    expect(messageOf(await world.call(process, "message_task", { task_id: "task_2", text: "hello" }))).toBe(
      "task kind 'monitor' does not accept inbound messages",
    );
  });
});

describe("schedules", () => {
  it("can be created, listed and cancelled by their tools, at most five", async () => {
    const world = new ToolWorld();
    const process = world.begin();
    const create = (description: string) =>
      world.call(process, "create_schedule", { description, cron_expression: "0 9 * * 1-5", timezone: "Europe/Kyiv" });
    const made = await create("stand up");
    const { schedule } = made.payload as { schedule: { id: string } };
    expect(schedule).toMatchObject({ description: "stand up", schedule_type: "recurring", enabled: true });
    for (let i = 0; i < 4; i++) await create(`n${i}`);
    expect(messageOf(await create("sixth"))).toBe(
      "Maximum 5 active schedules per session. Cancel an existing schedule first.",
    );
    expect((await world.call(process, "cancel_schedule", { schedule_id: schedule.id })).payload).toEqual({
      schedule_id: schedule.id,
      canceled: true,
    });
    const listed = (await world.call(process, "list_schedules", {})).payload as { schedules: { enabled: boolean }[] };
    expect(listed.schedules.map(({ enabled }) => enabled)).toEqual([false, true, true, true, true]);
  });

  it("are refused with a reason", async () => {
    const world = new ToolWorld();
    const process = world.begin();
    const said = async (tool: string, args: {}) => messageOf(await world.call(process, tool, args));
    expect(await said("create_schedule", { description: "x" })).toBe(
      "Must provide either cron_expression (recurring) or scheduled_at (one-shot)",
    );
    expect(await said("create_schedule", { description: "x", cron_expression: "* * * * *" })).toContain(
      "Schedule cron must fire no more than once every 300 seconds",
    );
    expect(await said("create_schedule", { description: "x", cron_expression: "no cron" })).toBe(
      "invalid cron expression 'no cron'",
    );
    expect(await said("cancel_schedule", { schedule_id: "sched_x" })).toBe("Invalid schedule_id format: sched_x");
    expect(await said("cancel_schedule", { schedule_id: `sched_${"0".repeat(32)}` })).toBe("Schedule not found");
  });
});
