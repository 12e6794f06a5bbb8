/** Tools of MCP servers as durable tools: found, called, followed over restarts, and never done twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryTransport, McpServer as SdkServer, fromJsonSchema } from "@modelcontextprotocol/server";
import { openRuntime } from "@pawl/driver-node";
import { type Runtime, type ToolDefinition, ToolError, defineTool } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { type McpServer, type McpTools, mcpTools } from "../src/client/index.ts";
import { stdio } from "../src/node/index.ts";
import { answerKey } from "../src/tool/ask.ts";
import { elicit } from "../src/index.ts";
import { openServer } from "./open.ts";

const home = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Serves tools, and returns how a client reaches them without a network. */
const remote = (tools: readonly ToolDefinition[], options = {}): McpServer => {
  const server = openServer(tools, { immediateMs: 50, pollMs: 10, ...options });
  ends.push(server.end);
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    request.headers.set("host", "localhost");
    return server.fetch(request);
  };
  return { name: "far", url: "http://localhost/mcp", fetch };
};

interface Local {
  readonly runtime: Runtime;
  readonly tools: McpTools;
  readonly end: () => Promise<void>;
}

/** Opens a runtime with the tools of a server. */
const local = async (server: McpServer, file = ":memory:"): Promise<Local> => {
  const { runtime, close } = openRuntime({ file, tools: [], log: () => undefined });
  const tools = await mcpTools(server);
  runtime.registry.provide(tools.provider);
  const end = async (): Promise<void> => {
    await tools.close();
    await close();
  };
  return { runtime, tools, end };
};

const opened = async (...of: Parameters<typeof local>): Promise<Local> => {
  const one = await local(...of);
  ends.push(one.end);
  return one;
};

/** Calls a tool, and returns how it ended. */
const outcome = async (runtime: Runtime, tool: string, args: Json = {}, request = "r1") => {
  const [reply] = await (await runtime.session("s")).request(request, [{ tool, args }]);
  return reply?.output.outcome;
};

/** A server of 2025-11-25 that is scripted: each call does what it is told. */
const scripted = (call: (drop: () => void) => unknown, annotations = {}): Pick<McpServer, "transport"> => ({
  transport: () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const server = new SdkServer({ name: "old", version: "1" });
    const inputSchema = fromJsonSchema({ type: "object" });
    server.registerTool("act", { inputSchema, annotations }, async () => {
      const text = String(await call(() => void theirs.close()));
      return { content: [{ type: "text", text }] };
    });
    void server.connect(theirs);
    return ours;
  },
});

const add = defineTool({
  name: "add",
  title: "Add",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  outputSchema: { type: "object", properties: { sum: { type: "number" } } },
  readOnly: true,
  execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
});

describe("the tools of a server", () => {
  it("are in the catalog under a prefix, with their descriptions and schemas, marked with a hash", async () => {
    const { runtime } = await opened(remote([add]));
    const [shown] = runtime.registry.shown();
    expect(shown).toMatchObject({
      name: "far_add",
      id: "mcp:far:add",
      description: "Adds",
      display_name: "Add",
      durable: true,
      input_schema: { properties: { a: { type: "number" } }, required: ["a", "b"] },
      output_schema: { properties: { sum: { type: "number" } } },
      hints: { metadata: { mcp: { server: "far", tool: "add", hash: expect.stringMatching(/^[0-9a-f]{64}$/) } } },
    });
    expect(shown?.hints).not.toHaveProperty("readonly");
    expect((await opened({ ...remote([add]), trusted: true })).runtime.registry.shown()[0]?.hints).toMatchObject({
      readonly: true,
    });
  });

  it("return what is structured, or texts; bytes become attachments; errors are read by the model", async () => {
    const fails = defineTool({
      name: "fails",
      execute: () => {
        throw new ToolError("no such account");
      },
    });
    const { runtime } = await opened(remote([add, fails]));
    expect(await outcome(runtime, "far_add", { a: 1, b: 2 })).toEqual({ status: "success", payload: { sum: 3 } });
    expect(await outcome(runtime, "far_fails", {}, "r2")).toMatchObject({
      status: "failure",
      payload: { message: "no such account" },
    });
    const { transport } = scripted(() => "");
    const picture = { type: "image" as const, data: "AQ==", mimeType: "image/png" };
    const pictures = (): ReturnType<NonNullable<typeof transport>> => {
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      const server = new SdkServer({ name: "old", version: "1" });
      server.registerTool("draw", {}, () => ({ content: [picture] }));
      void server.connect(theirs);
      return ours;
    };
    const drawn = await opened({ name: "old", transport: pictures });
    const [reply] = await (await drawn.runtime.session("s")).request("r", [{ tool: "old_draw", args: {} }]);
    expect(JSON.stringify(reply?.output.outcome)).toContain('"status":"success"');
    expect(await drawn.runtime.attachment("4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a")).toEqual(
      new Uint8Array([1]),
    );
  });

  it("that have changed are marked, and wait for a person where the host wants that", async () => {
    const server = remote([add]);
    const { tools } = await opened(server);
    const seen = { ...tools.seen(), add: "another" };
    const { runtime, tools: held } = await opened({ ...server, seen, holdChanged: true });
    expect(runtime.registry.named("far_add")?.tool.policy).not.toEqual(
      (await opened(server)).runtime.registry.named("far_add")?.tool.policy,
    );
    held.accept("add");
    expect(await outcome(runtime, "far_add", { a: 1, b: 2 })).toMatchObject({ status: "success" });
  });
});

describe("a call", () => {
  it("that becomes a task is followed to its end by whichever process comes after, and runs once", async () => {
    const runs: string[] = [];
    const long = defineTool({
      name: "long",
      durable: true,
      execute: async (_: unknown, context) => {
        await context.run("count", () => runs.push("run"));
        await context.sleep(600);
        return "done";
      },
    });
    const server = remote([long]);
    const file = join(home, "follow.db");
    const first = await local(server, file);
    const session = await first.runtime.session("s");
    session.request("r1", [{ tool: "far_long", args: {} }], { keep: true }).catch(() => undefined); // Its process dies.
    const hasHandle = () => JSON.stringify([...session.state.calls.rows()]).includes("poll:1");
    while (!hasHandle()) await new Promise((resolve) => setTimeout(resolve, 5));
    await first.end();
    const { runtime } = await opened(server, file);
    const [reply] = await (await runtime.session("s")).replies("r1");
    expect(reply?.output.outcome).toEqual({ status: "success", payload: "done" });
    expect(runs).toEqual(["run"]);
  });

  it("whose server asks is answered by the people of this session", async () => {
    const name = defineTool({
      name: "name",
      durable: true,
      execute: async (_: unknown, context) => {
        const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
        return (await elicit(context, "name", { message: "Your name?", requestedSchema })).content?.["name"];
      },
    });
    const { runtime } = await opened(remote([name]));
    const session = await runtime.session("s");
    const replies = session.request("r1", [{ tool: "far_name", args: {} }]);
    while ((await session.approvals()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const [wanted] = await session.approvals();
    expect(wanted?.label).toBe("Your name?");
    await wanted?.approve({ by: "ann", args: { [answerKey]: { action: "accept", content: { name: "Ann" } } } });
    expect((await replies)[0]?.output.outcome).toEqual({ status: "success", payload: "Ann" });
  });

  it("that is cancelled is cancelled there", async () => {
    let served: Runtime | undefined;
    const waits = defineTool({ name: "waits", durable: true, execute: (_: unknown, context) => context.sleep(60_000) });
    const server = openServer([waits], { immediateMs: 20, pollMs: 10 });
    ends.push(server.end);
    served = server.runtime;
    const fetch = (url: string | URL, init?: RequestInit) =>
      server.fetch(
        new Request(url, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), host: "localhost" },
        }),
      );
    const { runtime } = await opened({ name: "far", url: "http://localhost/mcp", fetch });
    const session = await runtime.session("s");
    const replies = session.request("r1", [{ tool: "far_waits", args: {} }]);
    while (!JSON.stringify([...session.state.calls.rows()]).includes("poll:1"))
      await new Promise((resolve) => setTimeout(resolve, 5));
    await session.cancel({ request: "r1" });
    expect((await replies)[0]?.output.outcome.status).toBe("cancelled");
    const there = await served.session("mcp/local");
    const states = async () => (await there.requests()).map(({ state }) => state);
    while ((await states())[0] === "working") await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await states()).toEqual(["cancelled"]);
  });

  it("whose server dies in the middle has an unknown outcome, and is not repeated", async () => {
    let calls = 0;
    const dies = scripted((drop) => {
      calls += 1;
      drop();
    });
    const { runtime } = await opened({ name: "old", ...dies });
    expect(await outcome(runtime, "old_act")).toMatchObject({
      status: "failure",
      payload: { code: "mcp_outcome_unknown", message: expect.stringContaining("Look before you repeat it") },
    });
    expect(calls).toBe(1);
  });

  it("of a tool that a trusted server says may be repeated is repeated, over a connection that is made anew", async () => {
    let calls = 0;
    const diesOnce = scripted(
      (drop) => {
        calls += 1;
        if (calls === 1) drop();
        return "at last";
      },
      { idempotentHint: true },
    );
    const { runtime } = await opened({ name: "old", trusted: true, ...diesOnce });
    expect(await outcome(runtime, "old_act")).toEqual({ status: "success", payload: "at last" });
    expect(calls).toBe(2);
  });
});

it("a server over stdio is started, started again when it dies, and stopped; what it complains of goes to the log", async () => {
  const said: string[] = [];
  const program = join(import.meta.dirname, "stdio-server.ts");
  const transport = stdio({ command: process.execPath, args: [program], stderr: (line) => said.push(line) });
  const { runtime } = await opened({ name: "child", transport, trusted: true });
  const first = await outcome(runtime, "child_pid");
  const pid = first?.status === "success" ? Number(first.payload) : 0;
  process.kill(pid, "SIGKILL");
  const again = await outcome(runtime, "child_pid", {}, "r2");
  expect(again?.status).toBe("success");
  expect(again).not.toEqual(first);
  expect(said.filter((line) => line === "the server is up").length).toBeGreaterThanOrEqual(2);
});
