/** A server over a runtime of its own, and clients that speak to it by hand. */
import { openRuntime } from "@pawl/driver-node";
import type { Runtime, ToolDefinition } from "@pawl/runtime";
import { type McpServerOptions, type ServedMcp, serveMcp, tasksExtension } from "../src/index.ts";

/** Fields of results that tests look at. */
export interface Said {
  readonly resultType: string;
  readonly taskId: string;
  readonly status: string;
  readonly createdAt: string;
  readonly tools: readonly { readonly name: string }[];
  readonly content: readonly { readonly type: string; readonly text: string; readonly uri: string }[];
  readonly contents: readonly object[];
  readonly result: object & Pick<Said, "content">;
  readonly inputRequests: { readonly [key: string]: { readonly method: string; readonly params: object } };
  readonly requestState: string;
}

export interface Rpc {
  readonly status: number;
  readonly result: Said;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object };
  /** Notifications that came before the answer. */
  readonly notes: readonly { readonly method: string; readonly params: { readonly [name: string]: unknown } }[];
  readonly headers: Headers;
}

export const version = "2026-07-28";

/** The capabilities of a client that has tasks and fills in forms. */
export const withTasks = { elicitation: {}, extensions: { [tasksExtension]: {} } };

export interface Asked {
  readonly capabilities?: object;
  readonly headers?: { readonly [name: string]: string };
  readonly meta?: object;
  readonly signal?: AbortSignal;
}

const nameOf = (params: { readonly [name: string]: unknown }): string | undefined =>
  (params["name"] ?? params["taskId"] ?? params["uri"]) as string | undefined;

/** Writes a request of 2026-07-28. */
export const requestOf = (
  method: string,
  params: object,
  { capabilities = withTasks, headers, meta, signal }: Asked,
): Request => {
  const name = nameOf(params as { readonly [name: string]: unknown });
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...meta,
  };
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      host: "localhost",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope } }),
    ...(signal === undefined ? {} : { signal }),
  });
};

const messagesIn = (text: string): readonly { readonly id?: unknown }[] =>
  text.startsWith("{")
    ? [JSON.parse(text) as object]
    : text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as object] : []));

/** Asks a server, and reads its answer to the end. */
export const ask = async (
  fetch: ServedMcp["fetch"],
  method: string,
  params: object,
  asked: Asked = {},
): Promise<Rpc> => {
  const response = await fetch(requestOf(method, params, asked));
  const messages = messagesIn(await response.text());
  const answer = (messages.find((message) => "id" in message) ?? {}) as Partial<Rpc>;
  const notes = messages.filter((message) => !("id" in message)) as unknown as Rpc["notes"];
  return {
    result: answer.result as Said,
    ...(answer.error && { error: answer.error }),
    notes,
    status: response.status,
    headers: response.headers,
  };
};

export interface Opened extends ServedMcp {
  readonly runtime: Runtime;
  readonly ask: (method: string, params: object, asked?: Asked) => Promise<Rpc>;
  readonly call: (name: string, args?: object, asked?: Asked) => Promise<Rpc>;
  /** Polls a task until it is as it is wanted. */
  readonly until: (taskId: string, status: string, asked?: Asked) => Promise<Rpc["result"]>;
  readonly end: () => Promise<void>;
}

/** Opens a runtime with tools, and serves it. */
export const openServer = (
  tools: readonly ToolDefinition[],
  options: McpServerOptions = {},
  file = ":memory:",
): Opened => {
  const { runtime, close } = openRuntime({ file, tools, log: () => undefined });
  const served = serveMcp(runtime, { immediateMs: 50, pollMs: 10, ...options });
  const asks = (method: string, params: object, asked?: Asked): Promise<Rpc> =>
    ask(served.fetch, method, params, asked);
  const until = async (taskId: string, status: string, asked?: Asked): Promise<Rpc["result"]> => {
    for (let tries = 0; tries < 500; tries++) {
      const { result, error } = await asks("tasks/get", { taskId }, asked);
      if (error !== undefined) throw new Error(`${error.code}: ${error.message}`);
      if (result.status === status) return result;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`task ${taskId} does not become ${status}`);
  };
  return {
    ...served,
    runtime,
    ask: asks,
    call: (name, args = {}, asked) => asks("tools/call", { name, arguments: args }, asked),
    until,
    end: async () => {
      await served.close();
      await close();
    },
  };
};
