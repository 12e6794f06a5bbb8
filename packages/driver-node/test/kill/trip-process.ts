/** The tool of the README, in a process that a test kills: `node trip-process.ts <file> <ms that a booking takes> <pauses>`. */
import { setTimeout as wait } from "node:timers/promises";
import { defineTool } from "@pawl/runtime";
import { openRuntime } from "../../src/index.ts";

const [file = "", ms = "0", pauses = "[]"] = process.argv.slice(2);

const bookTrip = defineTool<{ readonly to: string }>({
  name: "book_trip",
  durable: true,
  execute: async ({ to }, ctx) => {
    const book = (what: string) =>
      ctx.run(
        `book ${what}`,
        async ({ key }) => {
          console.log(`booking the ${what}, idempotency key ${key}`);
          await wait(Number(ms));
          return `${what} in ${to}`;
        },
        { input: { to } },
      );
    return [await book("train"), await book("hotel")];
  },
});

const { runtime, close } = openRuntime({
  file,
  tools: [bookTrip],
  options: { crashPausesMs: JSON.parse(pauses) as readonly number[] },
});
const session = await runtime.session("alice");
const [reply] = await session.request("turn-1", [{ label: "call-1", tool: "book_trip", args: { to: "Lviv" } }]);
console.log(JSON.stringify(reply?.output));
await close();
