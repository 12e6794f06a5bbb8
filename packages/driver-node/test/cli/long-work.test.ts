/** `pawl ls` and `pawl show` over a journal in which something runs in the background. */
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { expect, it } from "vitest";
import { openRuntime } from "../../src/index.ts";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

it("a run is shown with how far it is, where it lives and in its session", async () => {
  const file = join(newFolder(), "journal.db");
  const ends: (() => void)[] = [];
  const work = defineTool({
    name: "index",
    hints: { supports_background: true, idempotent: true },
    execute: async () => null,
    background: async (_, __, sink) => {
      await sink.progress({ current: 3, total: 4, unit: "pages", label: "reading" });
      await new Promise<void>((resolve) => void ends.push(resolve));
      return { summary: "read", result: null };
    },
  });
  const { runtime, close } = openRuntime({ file, tools: [work], host: { artifacts: async () => undefined } });
  const spawned = await runtime.background.spawn("s", { tool: "index", args: {}, title: "Index" });
  if (spawned.status === "refused") throw new Error(spawned.message);
  const watched = runtime.background.of("s");
  for (let i = 0; i < 2000 && (await watched.task(spawned.task))?.progress === undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await (await runtime.session("s")).runner.settled();
  await close();

  const bar = "[###############.....] reading: 3 / 4 pages";
  const { out } = await pawl(["ls", file]);
  expect(out).toContain(`run Index: Starting  ${bar}`);
  expect((await pawl(["show", `${file}#process:${spawned.run}`])).out).toContain(`run Index: Starting  ${bar}`);
  const task = `task Index (background_tool, ${spawned.task}): running, Starting  ${bar}`;
  expect((await pawl(["show", `${file}#s`])).out).toContain(task);
  const [shown] = jsonIn(await pawl(["show", `${file}#process:${spawned.run}`, "--json"]));
  expect(shown).toMatchObject({ run: { progress: { current: 3, total: 4 } } });
});
