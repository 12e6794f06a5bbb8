/** Changes made by the command line are visible to others, as those of a host are. */
import { join } from "node:path";
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { expect, it } from "vitest";
import { openRuntime, sqliteJournal } from "@pawl/driver-node";
import { newFolder, work } from "./fixture.ts";
import { pawl } from "./pawl.ts";

const parent = defineTool({
  name: "parent",
  durable: true,
  execute: async (_, ctx) => {
    const call = { call_id: "c", tool_id: "tool:work", tool_name: "work", args: {}, prepared_payload: null };
    await ctx.processes.start({ id: "p", input: { type: "tool_call", call }, eventTypes: [] });
    return ctx.processes.await("p");
  },
});
const tools: readonly ToolDefinition[] = [parent, work];
const calls = [{ label: "c", tool: "parent", args: {} }];

const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5));
};

it("is observed by the caller that awaits a process whose call is cancelled", async () => {
  const file = join(newFolder(), "journal.db");
  const before = openRuntime({ file, tools });
  const session = await before.runtime.session("s");
  void session.request("r", calls).catch(() => undefined); // The next host answers.
  await until(() => before.runtime.has("process:p"));
  const process = await before.runtime.processes.scope("p");
  await until(async () => process.state.waits.size === 1 && session.state.waits.size === 1);
  await Promise.all([process.runner.whenDurable(), session.runner.whenDurable()]);
  await before.close();
  const said = await pawl(["cancel", "process:p", "p:c", "-j", file]);
  expect([said.code, said.out]).toEqual([0, "p:c was asked to stop; the call is ended now\n"]);
  const after = openRuntime({ file, tools });
  const [reply] = await (await after.runtime.session("s")).request("r", calls);
  expect(reply?.output.outcome).toMatchObject({ status: "success", payload: { type: "cancelled" } });
  await after.close();
});

const twice = defineTool({
  name: "twice",
  durable: true,
  execute: async (_, ctx) => [await ctx.waitFor("first"), await ctx.waitFor("second")],
});

it("keeps earlier resolutions known", async () => {
  const file = join(newFolder(), "journal.db");
  const before = openRuntime({ file, tools: [twice] });
  const session = await before.runtime.session("s");
  void session.request("r", [{ label: "c", tool: "twice", args: {} }]).catch(() => undefined); // The call is cancelled.
  await until(async () => session.state.waits.size === 1);
  const key = session.state.waits.rows()[0]?.key ?? "";
  const yes = { status: "ok", payload: "yes" } as const;
  await session.resolveById(key, yes, "ann", "once");
  await until(async () => session.state.waits.size === 2);
  await session.runner.whenDurable();
  await before.close();
  expect((await pawl(["cancel", "s", "r:c", "-j", file])).code).toBe(0);
  const journal = sqliteJournal(file);
  const [line] = await journal.read("session:s", (await journal.find("session:s", "wait", key)) ?? 0);
  await journal.close();
  expect(line?.line).toContain('"wait.resolved"');
  const after = openRuntime({ file, tools: [twice] });
  const again = (await after.runtime.session("s")).resolveById(key, yes, "ann", "once");
  expect(await again).toEqual({ status: "accepted" });
  await after.close();
});
