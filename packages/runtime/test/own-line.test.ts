/** The stack of what an effect throws begins with the lines of the tool, and the log names the effect. */
import { expect, it } from "vitest";
import { type ToolContext, ToolError, defineTool } from "../src/index.ts";
import type { LogEntry } from "../src/driver.ts";
import { World } from "./world.ts";

const calls = [{ label: "c1", tool: "books", args: {} }];
const bookTrain = async (): Promise<never> => {
  await Promise.resolve();
  throw new TypeError("no seat");
};
const cases: readonly (readonly [what: string, effect: string, (ctx: ToolContext) => Promise<unknown>])[] = [
  ["a step's function throws late", "step train", async (ctx) => await ctx.run("train", bookTrain)],
  [
    "a step's function throws at once",
    "step train",
    async (ctx) =>
      await ctx.run("train", () => {
        throw new TypeError("no seat");
      }),
  ],
  ["what it returns cannot be kept", "step train", async (ctx) => await ctx.run("train", () => ({ seat: () => 1 }))],
  ["the name of a step is blank", "step ", async (ctx) => await ctx.run("", bookTrain)],
  ["the host answers nothing", "host:quote", async (ctx) => await ctx.host("quote", {})],
];

it.each(cases)("%s", async (_, effect, body) => {
  const entries: LogEntry[] = [];
  const tool = defineTool({ name: "books", durable: true, execute: (_args, ctx) => body(ctx) });
  const { runtime } = new World().start([tool], { log: (entry) => void entries.push(entry) });
  await (await runtime.session("s")).request("r", calls);
  const entry = entries.find(({ name }) => name === "tool.internal_error");
  expect(entry?.fields).toMatchObject({ tool: "books", effect: effect.replace(":", " ") });
  if (!(entry?.thrown instanceof Error)) throw new Error("nothing was reported");
  const frames = entry.thrown.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  expect(frames.length).toBeGreaterThan(0);
  for (const frame of frames) expect(frame).toContain("own-line.test.ts");
});

it("the first line is the one that threw, and a later run, which has the error from the log, names who awaits it", async () => {
  const stacks: string[] = [];
  const tool = defineTool({
    name: "books",
    durable: true,
    execute: async (_, ctx) => {
      try {
        await ctx.run("train", bookTrain);
      } catch (thrown) {
        stacks.push((thrown as Error).stack ?? "");
      }
      await ctx.waitFor("go");
      throw new ToolError("over");
    },
  });
  const world = new World();
  for (let n = 0; n < 2; n++) {
    const process = world.start([tool]);
    void (await process.runtime.session("s")).request("r", calls).catch(() => undefined);
    await world.quiet();
    process.kill();
  }
  const [first = "", second = ""] = stacks.map((stack) => stack.split("\n")[1]);
  expect(first).toContain("at bookTrain");
  expect(second).toMatch(/at (?:async )?execute/);
  expect(stacks.map((stack) => stack.split("\n")[0])).toEqual(["TypeError: no seat", "TypeError: no seat"]);
});
