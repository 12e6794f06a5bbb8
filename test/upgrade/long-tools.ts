/** The tools of the corpus whose work outlives a call: processes, background runs, tasks and schedules. As fixed as the others. */
import type { ToolDefinition } from "@pawl/runtime";
import { type Args, type Outside, eventTypes, process, stepsIn, tool } from "./tool-parts.ts";

export const longToolsOf = (outside: Outside): readonly ToolDefinition[] => {
  const step = stepsIn(outside);
  return [
    tool("begins", async ({ as }, ctx) => {
      await ctx.processes.start({ id: as, input: process(as, "works"), eventTypes: eventTypes });
      await ctx.processes.signal(as, "go", 1, "one");
      await ctx.processes.signal(as, "go", 2, "two");
      const end = await ctx.processes.await(as);
      return [end.type, await step(ctx, as, "awaited")];
    }),
    tool("works", async ({ as }, ctx) => {
      const first = await ctx.processEvents.awaitSignal("go");
      await ctx.emitProcessEvent("note", `${as} works`);
      const second = await ctx.processEvents.awaitSignal("go");
      await step(ctx, as, "worked");
      await ctx.sleep(1500);
      return [first, second];
    }),
    tool("stops", async ({ as }, ctx) => {
      await ctx.processes.start({ id: as, input: process(as, "cleans") });
      await ctx.sleep(900);
      await ctx.processes.cancel(as);
      return (await ctx.processes.await(as)).type;
    }),
    tool("engines", async ({ as }, ctx) => {
      await ctx.processes.start({
        id: as,
        input: { type: "engine", kind: "mill", payload: { as } },
        eventTypes: eventTypes,
      });
      return (await ctx.processes.await(as)).type;
    }),
    tool("hands", async ({ as }, ctx) => {
      await ctx.processes.start({ id: as, input: process(as, "works"), eventTypes: eventTypes });
      await ctx.processes.transferHandles("b", [as]);
      return ctx.processes.listHandles().then((handles) => handles.length);
    }),
    tool("takes", async ({ as }, ctx) => {
      while ((await ctx.processes.listHandlesFiltered(({ id }) => id === as)).length === 0) await ctx.sleep(200);
      await ctx.processes.signal(as, "go", "from b", "one");
      await ctx.processes.signal(as, "go", "from b", "two");
      return (await ctx.processes.await(as)).type;
    }),
    tool("spawns", async ({ as }, ctx) => {
      const spawned = await ctx.background.spawn({ tool: "job", args: { as }, title: as, signal: true });
      if (spawned.status !== "started") return spawned.status;
      return (await ctx.tasks.wait(spawned.task, 3_600_000)).state;
    }),
    tool("job", () => "run me in the background", {
      idempotent: true,
      background: async (args, ctx, sink) => {
        const { as } = args as Args;
        await sink.status("begun");
        for (let i = 1; i <= 3; i++) {
          await step(ctx, as, `job-${i}`);
          await sink.output("stdout", `${as} ${i}\n`);
          await sink.progress({ current: i, total: 3 });
          await ctx.sleep(700);
        }
        return { summary: "done", result: as };
      },
    }),
    tool("tasks", async ({ as }, ctx) => {
      const { id } = await ctx.tasks.create({
        kind: "subagent",
        display_name: as,
        spec: null,
        state: "running",
        wake_policy: "on_activity",
      });
      await ctx.tasks.message({ task_id: id, direction: "inbound", content: [{ type: "text", text: as }] });
      await step(ctx, as, "tasked");
      await ctx.sleep(1000);
      await ctx.tasks.update(id, { state: "awaiting_input", input_request: { id: "i", prompt: "which?" } });
      await ctx.sleep(1000);
      const { state } = await ctx.tasks.update(id, { state: "succeeded", summary: "done" });
      return [state, (await ctx.tasks.messages(id)).length];
    }),
    tool("plans", async ({ as }, ctx) => {
      const plan = { description: as, timezone: "UTC", cron_expression: "*/5 * * * *" };
      const monitor = { title: as, tool: "echo", arguments: null, signal_on_completion: true };
      const [one, two] = await ctx.all([ctx.schedules.create({ ...plan, monitor }), ctx.schedules.create(plan)]);
      await ctx.sleep(620_000);
      for (const made of [one, two]) if (made.status === "created") await ctx.schedules.cancel(made.schedule.id);
      return [one.status, two.status, await step(ctx, as, "planned")];
    }),
  ];
};
