/** `pawl ls` and `pawl show` over a journal with a background run. */
import { join } from "node:path";
import { defineTool } from "@pawl/runtime";
import { expect, it } from "vitest";
import { aesCodec, fileKeys, type OpenOptions, openRuntime } from "@pawl/driver-node";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

/** Reports progress and never ends. */
const work = defineTool({
  name: "index",
  idempotent: true,
  execute: async () => null,
  background: async (_, __, sink) => {
    await sink.progress({ current: 3, total: 4, unit: "pages", label: "reading" });
    await new Promise<void>(() => undefined);
    return { summary: "read", result: null };
  },
});

/** Makes a journal with that run in progress. */
const journalWithRun = async (more: Partial<OpenOptions> = {}) => {
  const file = join(newFolder(), "journal.db");
  const { runtime, close } = openRuntime({ file, tools: [work], host: { artifacts: async () => undefined }, ...more });
  const spawned = await runtime.background.spawn("s", { tool: "index", args: {}, title: "Index" });
  if (spawned.status === "refused") throw new Error(spawned.message);
  const watched = runtime.background.of("s");
  for (let i = 0; i < 2000 && (await watched.task(spawned.task))?.progress === undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await (await runtime.session("s")).runner.whenDurable();
  await close();
  return { file, spawned };
};

it("a run is shown with its progress, in its own scope and in its session", async () => {
  const { file, spawned } = await journalWithRun();
  const bar = "[###############.....] reading: 3 / 4 pages";
  const { out } = await pawl(["ls", file]);
  expect(out).toContain(`run Index: Starting  ${bar}`);
  expect((await pawl(["show", `${file}#process:${spawned.run}`])).out).toContain(`run Index: Starting  ${bar}`);
  const task = `task Index (background_tool, ${spawned.task}): running, Starting  ${bar}`;
  expect((await pawl(["show", `${file}#s`])).out).toContain(task);
  const [shown] = jsonIn(await pawl(["show", `${file}#process:${spawned.run}`, "--json"]));
  expect(shown).toMatchObject({ run: { progress: { current: 3, total: 4 } } });
}, 120_000);

it("a sealed run hides no other scope, and is shown with its keys", async () => {
  const keys = join(newFolder(), "keys");
  const { file, spawned } = await journalWithRun({ codec: aesCodec(fileKeys(keys)) });
  const { code, out } = await pawl(["ls", file]);
  expect([code, out.includes("session:s")]).toEqual([0, true]);
  expect(out).toMatch(new RegExp(`process:${spawned.run} .*unreadable \\(sealed\\)`));
  const [shown] = jsonIn(await pawl(["ls", file, "--json"]));
  expect(shown?.["scopes"]).toContainEqual(expect.objectContaining({ unreadable: "sealed" }));
  expect((await pawl(["ls", file, "--keys", keys])).out).toContain("run Index: Starting  [###############.....]");
  expect((await pawl(["show", `${file}#s`, "--keys", keys])).out).toContain(
    "running, Starting  [###############.....]",
  );
}, 120_000);
