/** The mcp provider against real servers of the official SDK: over HTTP, and over stdio. */
import { resolve } from "node:path";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { listen } from "@pawl/mcp/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, Registry, type ToolEntry, runOf } from "../src/index.ts";
import { mcpProvider } from "../src/remote/mcp.ts";
import { guardedFetch, stdioServers } from "../src/node/index.ts";
import { tools } from "./mcp-tools.ts";
import { type Served, serve } from "./server.ts";

let server: Served;
let other: Served;
beforeAll(async () => {
  const handler = createMcpHandler(() => {
    const one = new McpServer({ name: "test", version: "1" });
    tools(one);
    return one;
  });
  server = await listen(handler.fetch);
  other = await serve((request, response) => {
    if (request.url === "/text") response.writeHead(200, { "content-type": "application/json" }).end("no json");
    else if (request.url === "/huge")
      response.writeHead(200, { "content-type": "application/json" }).end("[".repeat(200_000));
    else response.writeHead(503).end("out of order");
  });
});
afterAll(async () => {
  await server.close();
  await other.close();
});

const fetch = guardedFetch({ allow: (address) => address === "127.0.0.1" });
const script = resolve(import.meta.dirname, "stdio-server.ts");
const stdio = stdioServers({ local: { command: process.execPath, args: [script] } });

const ask = (name: string, argument: string, more: Partial<ToolEntry> = {}, how: object = {}): Promise<Answer> => {
  const registry = new Registry([{ name, provider: "mcp", runtime: server.url, ...more }]);
  const run = runOf(registry, { mcp: mcpProvider({ fetch, stdio, maxBytes: 100_000, ...how }) }, name);
  if (run === undefined) throw new Error(`nobody runs ${name}`);
  return Promise.resolve(run(argument, { nowMs: 0, signal: new AbortController().signal }));
};

const outputAt = async (runtime: string): Promise<string> => (await ask("T", "x", { runtime })).output;

describe("the mcp provider", () => {
  it("sends a text as the tool's input, and returns the texts of the result, one a line", async () => {
    expect(await ask("Echo", "é")).toEqual({ success: true, output: "é\ntwice\né" });
  });
  it("sends an object as the arguments, and whole parameters as they are", async () => {
    const found = { success: true, output: '{"query":"x","n":5}' };
    expect(await ask("Search", '{"n":5,"query":"x"}')).toEqual(found);
    expect(await ask("Any", '{"name":"Search","arguments":{"query":"x","n":5}}')).toEqual(found);
  });
  it("blames the server for an error result, and returns a result without text whole", async () => {
    expect(await ask("Broken", "x")).toEqual({ success: false, output: "it broke [blame=server]" });
    expect(await ask("Silent", "x")).toEqual({ success: true, output: '{"content":[]}' });
    expect(await ask("Tagged", "x")).toEqual({
      success: true,
      output: '{"_meta":{"$lash_tool_value":"nope"},"content":[]}',
    });
  });
  it("reports a refusal of the server, and whose fault it is", async () => {
    const { success, output } = await ask("Search", "no body");
    expect(success).toBe(false);
    expect(output).toMatch(/\[blame=(?:caller|server)\]$/);
    const missing = await ask("Nobody", "x");
    expect([missing.success, missing.output]).toEqual([false, expect.stringMatching(/\[blame=(?:caller|server)\]$/)]);
  });
  it("times out", async () => {
    const answer = await ask("Slow", "x", { timeout: "400ms" });
    expect(answer).toEqual({ success: false, output: "ℰMCP error: MCP server timed out after 0s [blame=network]" });
  });
  it("reports an answer that is not MCP, and a server that is not there", async () => {
    const outputOfPath = async (path: string): Promise<string> =>
      (await ask("Echo", "x", { runtime: other.url + path })).output;
    expect(await outputOfPath("/")).toBe("ℰMCP error: MCP server returned HTTP 503: out of order [blame=network]");
    expect(await outputOfPath("/text")).toMatch(/^ℰMCP error: invalid JSON-RPC response: .* \[blame=network\]$/);
    expect(await outputOfPath("/huge")).toMatch(
      /^ℰMCP error: .*response larger than 100000 bytes.* \[blame=network\]$/s,
    );
    const gone = await serve(() => undefined);
    await gone.close();
    const cannot = `ℰMCP error: cannot connect to MCP server at ${gone.url} [blame=network]`;
    expect((await ask("Echo", "x", { runtime: gone.url })).output).toBe(cannot);
  });
  it("connects to no address of this machine by default", async () => {
    const { output } = await ask("Echo", "x", {}, { fetch: guardedFetch() });
    expect(output).toContain("127.0.0.1 is not a public address");
  });
  it("needs an address", async () => {
    expect(await outputAt(" ")).toBe(`ℰMCP tool 'T': no server URL. Set runtime: "http://..." in tool definition.`);
    expect(await outputAt("ftp://h")).toBe(
      "ℰMCP tool 'T': invalid server URL 'ftp://h'. Must start with http:// or https://.",
    );
    expect(await outputAt("stdio:none")).toContain("no stdio server `none`");
  });
  it("runs a server as a process of its host", async () => {
    expect(await ask("Echo", "x", { runtime: "stdio:local" })).toEqual({ success: true, output: "x\ntwice\nx" });
  });
});
