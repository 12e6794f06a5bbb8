/** `trip.ts FOLDER`: the tool of the README, with shorter steps. Each step is told in a line, and so is the outcome. */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { defineTool } from "@pawl/runtime";
import { openRuntime } from "../../src/index.ts";

const [folder = "."] = process.argv.slice(2);

const bookTrip = defineTool<{ readonly to: string }>({
  name: "book_trip",
  durable: true,
  execute: async ({ to }, ctx) => {
    const book = (what: string) =>
      ctx.run(`book ${what}`, async ({ key }) => {
        console.log(`booking the ${what} ${key}`);
        await wait(200);
        return `${what} in ${to}`;
      });
    return [await book("train"), await book("hotel"), await book("museum")];
  },
});

const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [bookTrip] });
const session = await runtime.session("alice");
const [reply] = await session.request("turn-1", [{ label: "call-1", tool: "book_trip", args: { to: "Lviv" } }]);
console.log(JSON.stringify(reply?.output.outcome));
await close();
