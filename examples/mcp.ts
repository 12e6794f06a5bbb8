/**
 * A tool that survives a crash and asks before it acts, as an MCP client sees it: the call becomes a task, the task asks a
 * person, and the process dies before the work is done. The next process goes on.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRuntime } from "@pawl/driver-node";
import { serveMcp } from "@pawl/mcp";
import { mcpTools } from "@pawl/mcp/client";
import { listen } from "@pawl/mcp/node";
import { defineTool } from "@pawl/runtime";

const home = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
const file = join(home, "mail.db");

const send = defineTool({
  name: "send_mail",
  description: "Sends a mail",
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  durable: true,
  needsApproval: true,
  execute: async ({ to }: { to: string }, ctx) => {
    await ctx.sleep(500);
    return ctx.run("send", () => `sent to ${to}`);
  },
});

/** Serves the tool on a port, as `pawl mcp --http` does. */
const serve = async (port: number) => {
  const { runtime, close } = openRuntime({ file, tools: [send] });
  const { fetch, close: end } = serveMcp(runtime, { immediateMs: 100, pollMs: 50 });
  const { url, port: taken, close: stop } = await listen(fetch, { port });
  const die = async (): Promise<void> => {
    await stop();
    await end();
    await close();
  };
  return { url, port: taken, die };
};

const first = await serve(0);

// The client: an agent's host, whose own tools are those of the server.
const agent = openRuntime({ file: join(home, "agent.db"), tools: [] });
const tools = await mcpTools({ name: "mail", url: first.url });
agent.runtime.registry.provide(tools.provider);
const session = await agent.runtime.session("ann");
const replies = session.request("turn-1", [{ tool: "mail_send_mail", args: { to: "bob" } }]);

while ((await session.approvals()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
const [wanted] = await session.approvals();
console.log(`asked: ${wanted?.label.split("\n")[0]}`);
await wanted?.approve({ by: "ann", args: { "mcp.answer": { action: "accept" } } });

await new Promise((resolve) => setTimeout(resolve, 200));
await first.die();
console.log("the server has died in the middle of its work");
const second = await serve(first.port);
const [reply] = await replies;
console.log(JSON.stringify(reply?.output.outcome));

await tools.close();
await agent.close();
await second.die();
rmSync(home, { recursive: true, force: true });
