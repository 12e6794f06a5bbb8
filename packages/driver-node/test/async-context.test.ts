/** Bodies and steps run in the async context in which their request was made, and in nobody else's. */
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { defineTool } from "@pawl/runtime";
import { nodePlatform, openRuntime } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-context-"));
afterAll(() => rmSync(folder, { recursive: true }));

const user = new AsyncLocalStorage<string>();
const seen = (): string => user.getStore() ?? "nobody";

const inner = defineTool({ name: "inner", durable: true, execute: () => seen() });
const who = defineTool({
  name: "who",
  durable: true,
  execute: async (_, ctx) => [
    seen(),
    await ctx.run("plain", () => seen()),
    await ctx.run("later", async () => {
      await new Promise((go) => setImmediate(go));
      return seen();
    }),
    await ctx.run("tried", ({ attempt }) => (attempt === 1 ? Promise.reject(new Error("not yet")) : seen()), {
      retry: { attempts: 2, firstDelayMs: 1 },
    }),
    ...(await ctx.stream("said", async function* () {
      yield seen();
    })),
    await ctx.call("inner", {}),
    seen(),
  ],
});
const tokens: string[] = [];
const waits = defineTool({
  name: "waits",
  durable: true,
  execute: async (_, ctx) => {
    const before = seen();
    const word = ctx.waitFor("word");
    tokens.push(word.token);
    await word;
    return [before, seen(), await ctx.run("after", () => seen())];
  },
});

it("two requests at once each see the store of their own caller, in bodies, steps, tries, streams and calls", async () => {
  const { runtime, close } = openRuntime({ file: join(folder, "two.db"), tools: [who, inner] });
  const asked = ["ann", "bob"].map((name, i) =>
    user.run(name, async () => (await runtime.session("same")).call(who, {}, { id: `turn-${i}` })),
  );
  expect(await Promise.all(asked)).toEqual([Array(7).fill("ann"), Array(7).fill("bob")]);
  await close();
});

it("a body that goes on after a restart sees no store of those who happen to be there", async () => {
  const file = join(folder, "restart.db");
  const first = openRuntime({ file, tools: [waits] });
  const session = await first.runtime.session("cat");
  void user.run("cat", () => session.call(waits, {}, { id: "turn-1" })).catch(() => undefined);
  while (tokens.length === 0) await new Promise((go) => setTimeout(go, 2));
  await first.close();
  const second = openRuntime({ file, tools: [waits] });
  const result = await user.run("dan", async () => {
    const again = await second.runtime.session("cat");
    await again.resolve(tokens[0] ?? "", { status: "ok", payload: null });
    return again.result("turn-1");
  });
  expect(result).toEqual(["nobody", "nobody", "nobody"]);
  await second.close();
});

it("a context costs at most 5 µs a run of a body", () => {
  const { contexts } = nodePlatform;
  const times = 50_000;
  const measured = Array.from({ length: 5 }, () => {
    const { user: before } = process.cpuUsage();
    for (let i = 0; i < times; i++) contexts?.capture()(() => i);
    return (process.cpuUsage().user - before) / times;
  });
  expect(Math.min(...measured)).toBeLessThan(5);
});
