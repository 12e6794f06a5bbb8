/** `pawl show` and `pawl ls` with ended background runs. */
import { join } from "node:path";
import { type ToolDefinition, ToolError, defineTool } from "@pawl/runtime";
import { expect, it } from "vitest";
import { openRuntime } from "@pawl/driver-node";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";
import { until } from "../../driver-node/test/until.ts";

const inBackground = (name: string, background: () => Promise<unknown>): ToolDefinition =>
  defineTool({ name, execute: () => null, background });

it("an ended run is shown with its end: completed, failed with an error, or cancelled", async () => {
  const file = join(newFolder(), "journal.db");
  const tools = [
    inBackground("reads", async () => ({ summary: "read", result: 3 })),
    inBackground("fails", async () => {
      throw new ToolError("no such page\nin the index");
    }),
    inBackground("hangs", () => new Promise(() => undefined)),
  ];
  const { runtime, close } = openRuntime({ file, tools, host: { artifacts: async () => undefined } });
  const watched = runtime.background.of("s");
  const ran = new Map<string, string>();
  for (const { name } of tools) {
    const spawned = await runtime.background.spawn("s", { tool: name, args: {}, title: name });
    if (spawned.status === "refused") throw new Error(spawned.message);
    ran.set(name, `process:${spawned.run}`);
    const stateOf = async (): Promise<string | undefined> => (await watched.task(spawned.task))?.state;
    if (name === "hangs") {
      await until(async () => (await stateOf()) === "running");
      await watched.cancel(spawned.task);
    }
    await until(async () => !["running", "pending", undefined].includes(await stateOf()));
  }
  await (await runtime.session("s")).runner.whenDurable();
  for (const id of ran.values()) await (await runtime.processes.scope(id.slice(8))).runner.whenDurable();
  await close();

  const ends = { reads: "completed", fails: "failed (error): no such page", hangs: "cancelled: Canceled by request." };
  for (const [name, end] of Object.entries(ends)) {
    const place = `${file}#${ran.get(name)}`;
    const { out } = await pawl(["show", place]);
    expect(out).toContain(`run ${name}: ${end}\n`);
    expect(out).toMatch(new RegExp(`^process bg_\\w+: \\d+ events, ${end.replaceAll(/[().]/g, "\\$&")}$`, "m"));
    expect((await pawl(["ls", file])).out).toContain(`run ${name}: ${end}  `);
    const [shown] = jsonIn(await pawl(["show", place, "--json"]));
    expect(shown).toMatchObject({ run: { phase: "ended", ended: { state: end.split(/[ :]/)[0] } } });
  }
});
