/** A process that is killed in the tests: one call over a journal; it tells the world of each try of a step. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { defineTool } from "@pawl/runtime";
import { openRuntime } from "../src/index.ts";

const [folder = "."] = process.argv.slice(2);
const tell = (line: string): void => appendFileSync(join(folder, "world.txt"), `${line}\n`);

const work = defineTool({
  name: "work",
  durable: true,
  execute: async (_, ctx) => {
    const results: unknown[] = [];
    for (let i = 0; i < 6; i++) {
      const step = (name: string) =>
        ctx.runJson(`${name}-${i}`, { i }, async () => {
          await pause(5);
          tell(`${name}-${i}`);
          return `${name}-${i}`;
        });
      results.push(await ctx.all([step("left"), step("right")]));
      await ctx.sleep(10);
    }
    return [results, ctx.random()];
  },
});

const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [work] });
const session = await runtime.session("s");
const replies = await session.call("r", [{ id: "c", tool: "work", args: {} }]);
console.log(JSON.stringify(replies[0]?.output.outcome));
close();
