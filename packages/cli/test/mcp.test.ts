/** `pawl mcp` as MCP clients start it, and reach it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { newFolder } from "./fixture.ts";

const folder = newFolder();
const main = join(import.meta.dirname, "../src/main.ts");
const tools = join(folder, "tools.mjs");
writeFileSync(tools, `export const tools = [{ name: "quick", durable: true, execute: () => "at once" }];`);

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL"); // Those that a failed test has left.
});

const started = (...args: readonly string[]) => {
  const child = spawn(process.execPath, [main, "mcp", tools, "-j", join(folder, "mcp.db"), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  return child;
};

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

it("answers a client over stdio, says nothing else there, and ends with it", async () => {
  const child = started();
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "quick", arguments: {} } };
  for (const message of [initialize, { jsonrpc: "2.0", method: "notifications/initialized" }, call])
    child.stdin.write(`${JSON.stringify(message)}\n`);
  const lines: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line));
    if (lines.length === 2) child.stdin.end();
  }
  expect(lines).toEqual([
    expect.objectContaining({ id: 1, result: expect.objectContaining({ protocolVersion: "2025-11-25" }) }),
    expect.objectContaining({ id: 2, result: { content: [{ type: "text", text: "at once" }] } }),
  ]);
  if (child.exitCode === null) await once(child, "exit");
  expect(child.exitCode).toBe(0);
});

it("serves HTTP to callers with a token of the journal's host, and to nobody else", async () => {
  const child = started("--http", "--grant", "ann", "--json");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string };
  const post = (headers: object): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(initialize),
    });
  expect((await post({})).status).toBe(401);
  const answer = await post({ authorization: `Bearer ${token}` });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("2025-11-25")]);
  child.kill("SIGTERM");
  await once(child, "exit");
  expect(child.exitCode).toBe(0);
});
