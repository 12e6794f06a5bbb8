/** The runtime as pages load it: what is loaded late is loaded in the midst of calls, and the log is that of Node. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "@pawl/sansio-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Act, ofBodies, ofOthers, plain } from "./page/acts.ts";
import * as node from "./page/runtime.ts";
import { type Api, Stage, freshPage, pageFiles } from "./page/stage.ts";

const scratch = mkdtempSync(join(tmpdir(), "pawl-page-"));
afterAll(() => rmSync(scratch, { recursive: true }));

let files: ReadonlyMap<string, string>;
beforeAll(async () => {
  files = await pageFiles();
});

/** What differs from run to run without anybody's doing. */
const told = (events: readonly Event[]): readonly unknown[] =>
  events.map((event) => ("duration_ms" in event ? { ...event, duration_ms: 0 } : event));

const untimed = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer ?? null), (key, value: unknown) => (key === "duration_ms" ? 0 : value));

/** Plays it in Node and in a page, with nothing loaded; gives the page. */
const playedAlike = async (act: Act): Promise<Api> => {
  const api = await freshPage(files, scratch);
  const [here, there] = [new Stage(node), new Stage(api)];
  const answers = [await act(here), await act(there)];
  expect(untimed(answers[1])).toEqual(untimed(answers[0]));
  expect(told(await there.log())).toEqual(told(await here.log()));
  expect((await there.log()).length).toBeGreaterThan(2);
  return api;
};

describe("a page that loads what a call needs in its midst has the log of Node where a call", () => {
  for (const [what, act] of Object.entries({ ...ofBodies, ...ofOthers }))
    it(what, async () => {
      expect((await playedAlike(act)).late.loaded).toBeDefined();
    });
});

describe("a page loads nothing, and has the log of Node, where a call", () => {
  for (const [what, act] of Object.entries(plain))
    it(what, async () => {
      expect((await playedAlike(act)).late.loaded).toBeUndefined();
    });
});

it("a tool that comes back while the code for calls without one is on its way runs its call", async () => {
  const api = await freshPage(files, scratch);
  const stage = new Stage(api);
  const tool = { name: "t", durable: true, execute: () => new Promise(() => undefined) };
  const first = await stage.start([tool]).session("s");
  first.call("r", [{ id: "c", tool: "t", args: {} }]).catch(() => undefined);
  await stage.quiet();
  const runtime = stage.start([]);
  const session = await runtime.session("s");
  await stage.loading();
  expect(api.late.loaded).toBeUndefined();
  runtime.registry.register(api.defineTool({ ...tool, execute: () => "back" }));
  expect(await stage.until(session.replies("r"))).toMatchObject([{ output: { outcome: { payload: "back" } } }]);
});

const mixed = async (_: unknown, ctx: node.ToolContext): Promise<number> => {
  const asked = [ctx.runJson("a", 1, () => "a"), ctx.sleep(30), ctx.runJson("b", 2, () => "b"), ctx.sleep(10)];
  return (await Promise.all(asked)).length;
};

it("a body that stands still asks in the order of its program, whatever is settled meanwhile", async () => {
  const stage = new Stage(await freshPage(files, scratch));
  const session = await stage.start([{ name: "t", durable: true, execute: mixed }]).session("s");
  await stage.until(session.call("r", [{ id: "c", tool: "t", args: {} }]));
  const asked = (await stage.log()).filter(({ type }) => type === "effect.requested").map(({ key }) => key);
  expect(asked).toEqual(["durable-step:a", "sleep", "durable-step:b", "sleep#2"]);
});

const slept = async (_: unknown, ctx: node.ToolContext): Promise<string> => {
  await ctx.sleep(30);
  return ctx.runJson("a", 1, () => new Promise<string>((resolve) => setTimeout(resolve, 60_000, "late").unref()));
};

const again = async (_: unknown, ctx: node.ToolContext): Promise<string> => {
  await ctx.sleep(30);
  return ctx.runJson("a", 1, () => "done");
};

it("goes on with a call that has slept where somebody else, as an inspector, has filled the core", async () => {
  const before = new Stage(node);
  const session = await before.start([{ name: "t", durable: true, execute: slept }]).session("s");
  session.call("r", [{ id: "c", tool: "t", args: {} }]).catch(() => undefined);
  for (let i = 0; i < 3; i++) {
    await before.quiet();
    before.platform.advance(20);
  }
  expect((await before.log()).at(-1)).toMatchObject({ type: "effect.requested", key: "durable-step:a" });

  const api = await freshPage(files, scratch);
  const stage = new Stage(api);
  api.fillAll();
  const { journal } = before;
  const opened = await stage
    .start([{ name: "t", durable: true, execute: again }], { journal, instance: "page" })
    .session("s");
  expect(await stage.until(opened.replies("r"))).toMatchObject([{ output: { outcome: { payload: "done" } } }]);
});

const leaving = (isHeldUp: boolean) => ({
  name: "t",
  durable: true,
  execute: async (_: unknown, ctx: node.ToolContext) => {
    const asks = async (): Promise<unknown> => {
      await ctx.runJson("a", 1, () => "a");
      await ctx.tasks.list();
      return ctx.runJson("b", 2, () => new Promise(() => undefined));
    };
    asks().catch(() => undefined);
    if (isHeldUp) await new Promise(() => undefined);
    return "at once";
  },
});

it("a body that ends stands still for what it has left running: that it asks for nothing then is no divergence", async () => {
  const before = new Stage(node);
  const session = await before.start([leaving(true)]).session("s");
  session.call("r", [{ id: "c", tool: "t", args: {} }]).catch(() => undefined);
  await before.quiet();
  expect((await before.log()).at(-1)).toMatchObject({ type: "effect.requested", key: "durable-step:b" });

  const stage = new Stage(await freshPage(files, scratch));
  const { journal } = before;
  const opened = await stage.start([leaving(false)], { journal, instance: "page" }).session("s");
  expect(await stage.until(opened.replies("r"))).toMatchObject([{ output: { outcome: { payload: "at once" } } }]);
});
