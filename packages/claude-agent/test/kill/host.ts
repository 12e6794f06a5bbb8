/** A server of an agent, as a process that is killed. Its arguments: the journal, the API, and where the model is. */
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { openRuntime } from "@pawl/driver-node";
import { defineTool } from "@pawl/runtime";
import { z } from "zod";
import { claudeSession } from "../../src/index.ts";
import { isolated } from "../isolated.ts";

const [file = "", , url = ""] = process.argv.slice(2);
const home = join(dirname(file), `home-${process.pid}`); // Nothing of the last process is there but its journal.
mkdirSync(home);

const effect = async (name: string, key: string): Promise<string> => {
  const response = await fetch(`${url}/effect`, { method: "POST", body: JSON.stringify({ key, name }) });
  return response.text();
};
const look = defineTool({
  name: "look",
  durable: true,
  inputSchema: z.object({ order: z.string() }),
  execute: (_, ctx) => ctx.run("look", () => effect("look", ctx.toolCallId)),
});
const refund = defineTool({
  name: "refund",
  durable: true,
  inputSchema: z.object({ cents: z.number() }),
  execute: async ({ cents }, ctx) => {
    const { approved } = await ctx.approve({ title: "refund", args: { cents } });
    return approved ? ctx.run("refund", () => effect("refund", ctx.toolCallId)) : "denied";
  },
});

const { runtime } = openRuntime({ file, tools: [] });
let asked: Promise<string> | undefined;

const ask = async (): Promise<string> => {
  const claude = await claudeSession(runtime, "plain", { tools: [look, refund] });
  const options = { ...isolated(home, url), ...claude.options };
  for await (const message of query({ prompt: claude.prompt("Refund A1"), options }))
    if (message.type === "result") return message.subtype === "success" ? message.result : message.subtype;
  return "";
};
const answer = async (path: string): Promise<unknown> => {
  if (path === "/ask") return (asked ??= ask());
  const session = await runtime.session("plain");
  if (path === "/approve") for (const one of await session.approvals()) await one.approve({ by: "ann" });
  return path === "/approvals" ? (await session.approvals()).length : "";
};
const server = createServer((request, response) => {
  answer(request.url ?? "/").then(
    (said) => response.end(JSON.stringify(said)),
    (thrown: unknown) => {
      console.error(thrown);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit());
