/** A process that stores a large value and dies when told to: after the blob, before the event. */
import { Runtime, defineTool } from "@pawl/runtime";
import { namesIn } from "@pawl/runtime/driver";
import { nodePlatform, sqliteJournal } from "../src/index.ts";

const [file = "", fate = "live"] = process.argv.slice(2);
const journal = sqliteJournal(file);

const runtime = new Runtime({
  journal: {
    ...journal,
    appendAll: async (appends) => {
      const names = appends.flatMap(({ lines }) => lines.flatMap(({ line }) => namesIn(line)));
      if (fate === "die" && names.length > 0) process.kill(process.pid, "SIGKILL");
      return journal.appendAll(appends);
    },
  },
  platform: nodePlatform,
  instance: `p${process.pid}`,
  roots: { newest: { kid: "k", secret: new Uint8Array(32) } },
  tools: [
    defineTool({
      name: "make",
      durable: true,
      execute: (_, ctx) => ctx.run("step", () => `${process.pid} `.repeat(20_000)),
    }),
  ],
});

const session = await runtime.session("s");
const [reply] = await session.request("r", [{ label: "c", tool: "make", args: null }]);
console.log(JSON.stringify(reply?.output.outcome.payload));
await runtime.close();
await journal.close();
