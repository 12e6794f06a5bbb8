/** Journals with some history, for the commands' tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import { afterAll } from "vitest";
import { openRuntime, sqliteJournal } from "@pawl/driver-node";
import { until } from "../../driver-node/test/until.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-cli-"));
  folders.push(folder);
  return folder;
};

export const work = defineTool({
  name: "work",
  durable: true,
  execute: async (_, ctx) => {
    const seat = await ctx.run("reserve", () => "12a", { input: { to: "Lviv" } });
    const approved = await ctx.waitFor("approved");
    return [seat, approved, await ctx.run("charge", () => "paid", { input: { seat } })];
  },
});

export const guarded = defineTool({
  name: "guarded",
  durable: true,
  needsApproval: true,
  execute: async (args, ctx) => ctx.run("do", () => "done", { input: args }),
});

export const quick = defineTool({ name: "quick", durable: true, execute: () => "at once" });

export const tools: readonly ToolDefinition[] = [work, guarded, quick];

/** Makes sessions: one waits for an event, one awaits approval, one is done. */
export const madeJournal = async (folder: string): Promise<string> => {
  const file = join(folder, "journal.db");
  const { runtime, close } = openRuntime({ file, tools });
  const waiting = await runtime.session("waiting");
  void waiting.request("r", [{ label: "c", tool: "work", args: {} }]).catch(() => undefined); // Nobody waits for it here.
  await until(() => waiting.state.waits.size === 1);
  await waiting.runner.whenDurable();
  const parked = await runtime.session("parked");
  void parked.request("r", [{ label: "c", tool: "guarded", args: { sum: 12 } }]).catch(() => undefined); // Nobody waits for it here.
  await until(() => parked.state.calls.rows()[0]?.phase === "awaiting_approval");
  await parked.runner.whenDurable();
  const done = await runtime.session("done");
  await done.request("r", [{ label: "c", tool: "quick", args: {} }]);
  await done.runner.whenDurable();
  await close();
  return file;
};

/** Opens the journal again with its tools, as a returning host would, and returns the replies of a request. */
export const repliesOf = async (file: string, session: string, call: string, tool: string, args: object) => {
  const { runtime, close } = openRuntime({ file, tools });
  const replies = await (await runtime.session(session)).request("r", [{ label: call, tool, args: args as never }]);
  await close();
  return replies;
};

export const linesOf = async (file: string, scope: string): Promise<readonly string[]> => {
  const journal = sqliteJournal(file);
  const lines = (await journal.read(scope, 1)).map(({ line }) => line);
  await journal.close();
  return lines;
};
