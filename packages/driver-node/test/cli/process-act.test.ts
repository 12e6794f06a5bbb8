/** What is said to a process from the command line is heard by those who await it, once a host is there. */
import { join } from "node:path";
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { expect, it } from "vitest";
import { openRuntime } from "../../src/index.ts";
import { newFolder, work } from "./fixture.ts";
import { pawl } from "./pawl.ts";

const parent = defineTool({
  name: "parent",
  durable: true,
  execute: async (_, ctx) => {
    const call = { call_id: "c", tool_id: "tool:work", tool_name: "work", args: {}, prepared_payload: null };
    await ctx.processes.start({ id: "p", input: { type: "tool_call", call }, event_types: [] });
    return ctx.processes.await("p");
  },
});
const tools: readonly ToolDefinition[] = [parent, work];
const calls = [{ id: "c", tool: "parent", args: {} }];

const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5));
};

it("is the end of one whose call is cancelled", async () => {
  const file = join(newFolder(), "journal.db");
  const before = openRuntime({ file, tools });
  const session = await before.runtime.session("s");
  void session.call("r", calls).catch(() => undefined); // The next host answers.
  await until(() => before.runtime.has("process:p"));
  const process = await before.runtime.processes.scope("p");
  await until(async () => process.state.waits.size === 1 && session.state.waits.size === 1);
  await Promise.all([process.runner.settled(), session.runner.settled()]);
  await before.close();
  const said = await pawl(["cancel", "process:p", "p:c", "-j", file]);
  expect([said.code, said.out]).toEqual([0, "p:c is told to stop; the call is ended now\n"]);
  const after = openRuntime({ file, tools });
  const [reply] = await (await after.runtime.session("s")).call("r", calls);
  expect(reply?.output.outcome).toMatchObject({ status: "success", payload: { type: "cancelled" } });
  await after.close();
});
