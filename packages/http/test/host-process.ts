/** A process with a host over a journal file, which is killed with SIGKILL: its address goes to standard output. */
import { openHost, openRuntime } from "../../driver-node/src/index.ts";
import { defineTool } from "@pawl/runtime";
import { everything, secret } from "./claims.ts";

const [file = "", port = "0"] = process.argv.slice(2);

const works = defineTool({
  name: "works",
  durable: true,
  execute: async (args, ctx) => {
    await ctx.run("first", () => "done");
    await ctx.sleep(700);
    return args;
  },
});
const pays = defineTool({
  name: "pays",
  durable: true,
  execute: async (_, ctx) => {
    const paid = ctx.waitFor("paid");
    await ctx.run("hand out", () => ctx.progress({ message: paid.token }));
    await ctx.store.set("token", paid.token);
    return paid;
  },
});
const asks = defineTool({ name: "asks", durable: true, needsApproval: true, execute: (args) => args });

const { runtime } = openRuntime({ file, tools: [works, pays, asks] });
const host = await openHost({ runtime, secrets: [secret], port: Number(port) });
process.stdout.write(`${JSON.stringify({ url: host.url, token: host.sign(everything) })}\n`);
await runtime.recover();
