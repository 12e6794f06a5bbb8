/** A server over a journal file whose tool writes to a ledger outside. It is killed in every state of a task. */
import { appendFileSync } from "node:fs";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { elicit, serveMcp } from "../../src/index.ts";
import { listen } from "../../src/node/index.ts";

const [, , file = "", ledger = ""] = process.argv;

const work = defineTool({
  name: "work",
  durable: true,
  inputSchema: {
    type: "object",
    properties: { id: { type: "string" }, ms: { type: "number" }, asks: { type: "boolean" } },
  },
  execute: async ({ id, ms = 0, asks = false }: { id: string; ms?: number; asks?: boolean }, context) => {
    if (asks) {
      const { action } = await elicit(context, "go", {
        message: `Do ${id}?`,
        requestedSchema: { type: "object", properties: {} },
      });
      if (action !== "accept") return `left ${id}`;
    }
    await context.sleep(ms);
    await context.run("effect", ({ key }) => appendFileSync(ledger, `${id} ${key}\n`));
    return `did ${id}`;
  },
});

const { runtime } = openRuntime({ file, tools: [work], log: () => undefined });
const served = serveMcp(runtime, { pollMs: 10, immediateMs: 20, tools: { work: { task: "always" } } });
const { url } = await listen(served.fetch);
process.stdout.write(`${url}\n`);
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));
