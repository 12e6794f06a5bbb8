/** The official clients drive a server: with tasks (`ext-tasks`), and of 2025-11-25, over HTTP and over stdio. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { defineTool } from "@pawl/runtime";
import { afterEach, expect, it } from "vitest";
import { elicit, tasksExtension } from "../src/index.ts";
import { serveOverStdio } from "../src/node/index.ts";
import { type Opened, openServer } from "./open.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const greet = defineTool({
  name: "greet",
  title: "Greet",
  description: "Greets a person",
  durable: true,
  inputSchema: { type: "object", properties: {} },
  execute: async (_: unknown, context) => {
    const requestedSchema = {
      type: "object" as const,
      properties: { name: { type: "string" as const } },
      required: ["name"],
    };
    const { content } = await elicit(context, "name", { message: "Who are you?", requestedSchema });
    context.progress({ message: "greeting", done: 1, total: 1 });
    await context.sleep(150);
    return `Hello, ${String(content?.["name"])}`;
  },
});

const opened = (): Opened => {
  const server = openServer([greet]);
  ends.push(server.end);
  return server;
};

/** Sends a client's requests to a server in this process. */
const fetchOf =
  ({ fetch }: Opened) =>
  (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    request.headers.set("host", "localhost");
    return fetch(request);
  };

const hello = [{ type: "text", text: "Hello, Ann" }];
const url = new URL("http://localhost/mcp");

it("a client with the tasks extension calls a tool, answers what it asks, and gets its result", async () => {
  const server = opened();
  const fetch = fetchOf(server);
  const capabilities = { elicitation: { form: {} }, extensions: { [tasksExtension]: {} } };
  const client = new Client({ name: "official", version: "1" }, { capabilities, versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }));
  ends.push(() => client.close());
  let id = 1000;
  const session = createTaskSessionFromClient(client, {
    endpointId: "test",
    v2RequestFraming: {
      protocolVersion: "2026-07-28",
      clientInfo: { name: "official", version: "1" },
      clientCapabilities: capabilities,
    },
    rawDispatch: async (request) => {
      const { method, params } = request as {
        readonly method: string;
        readonly params: { readonly [name: string]: string };
      };
      const name = params["name"] ?? params["taskId"];
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(name === undefined ? {} : { "mcp-name": name }),
      };
      const body = JSON.stringify({ jsonrpc: "2.0", id: id++, ...(request as object) });
      return (await (await fetch(url, { method: "POST", headers, body })).json()) as never;
    },
    onInputRequest: () => Promise.resolve({ action: "accept", content: { name: "Ann" } } as never),
  });
  const execution = await session.callTool("greet", {});
  const { outcome } = await execution.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({ content: hello });
  await session.close();
});

it("a client of 2026-07-28 without tasks answers in the middle of its call", async () => {
  const server = opened();
  const client = new Client(
    { name: "official", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ann" } }));
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: fetchOf(server) }));
  ends.push(() => client.close());
  expect((await client.listTools()).tools).toMatchObject([
    { name: "greet", title: "Greet", description: "Greets a person" },
  ]);
  expect(await client.callTool({ name: "greet", arguments: {} })).toMatchObject({ content: hello });
});

it.each(["legacy", "auto"] as const)(
  "a client over stdio (%s) is asked, hears of progress, and gets its result",
  async (mode) => {
    const server = opened();
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const { close } = serveOverStdio(server, theirs);
    const client = new Client(
      { name: "official", version: "1" },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
    );
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ann" } }));
    await client.connect(ours as never);
    ends.push(() => client.close(), close);
    const heard: unknown[] = [];
    const onprogress = (progress: unknown): void => void heard.push(progress);
    expect(await client.callTool({ name: "greet", arguments: {} }, { onprogress })).toMatchObject({ content: hello });
    expect(heard).toContainEqual({ progress: 1, total: 1, message: "greeting" });
  },
);

it("a call whose connection breaks goes on, and one that its client cancels does not", async () => {
  const waits = defineTool({ name: "waits", durable: true, execute: (_: unknown, context) => context.sleep(400) });
  const server = openServer([waits]);
  ends.push(server.end);
  const session = await server.runtime.session("mcp/local");
  const connected = async (): Promise<Client> => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    serveOverStdio(server, theirs);
    const client = new Client({ name: "official", version: "1" });
    await client.connect(ours as never);
    return client;
  };
  const broken = await connected();
  const lost = broken.callTool({ name: "waits", arguments: {} }).catch((thrown: unknown) => thrown);
  while (session.state.requests.rows().length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  await broken.close();
  const other = await connected();
  ends.push(() => other.close());
  const stop = new AbortController();
  const stopped = other
    .callTool({ name: "waits", arguments: {} }, { signal: stop.signal })
    .catch((thrown: unknown) => thrown);
  while (session.state.requests.rows().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  await Promise.all([lost, stopped]);
  const states = async () => (await session.requests()).map(({ state }) => state).toSorted();
  while ((await states()).some((state) => state === "waiting" || state === "working"))
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await states()).toEqual(["cancelled", "done"]);
});
