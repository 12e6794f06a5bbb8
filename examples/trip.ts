/** The process of the terminal demo: one call of one tool, over a journal that outlives the process. */
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";

const [folder = "."] = process.argv.slice(2);

/**
 * The outside world: a service that takes idempotency keys, as payment services do. It notes every try, and does the work
 * of a key by creating a file, which can be created only once.
 */
const world = join(folder, "world");
mkdirSync(world, { recursive: true });
const doInTheWorld = async (what: string, key: string): Promise<string> => {
  await pause(120);
  appendFileSync(join(folder, "tries.txt"), `${key}\n`);
  const file = join(world, encodeURIComponent(key));
  if (!existsSync(file)) writeFileSync(file, what, { flag: "wx" });
  return `${what}: done`;
};

const steps = ["find a flight", "reserve the seat", "charge the card", "book the hotel", "send the tickets"];

const bookTrip = defineTool<{ readonly to: string }>({
  name: "book_trip",
  durable: true,
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: async ({ to }, ctx) => {
    for (const step of steps) {
      await ctx.run(step, ({ key }) => doInTheWorld(step, key), { input: { to } });
      console.log(step);
    }
    return { to, confirmation: ctx.uuid("confirmation") };
  },
});

const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [bookTrip] });
const session = await runtime.session("demo");
const [reply] = await session.request("trip-1", [{ label: "call-1", tool: "book_trip", args: { to: "Lviv" } }]);
console.log(`reply ${JSON.stringify(reply?.output.outcome)}`);
await close();
