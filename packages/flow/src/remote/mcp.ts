/** The mcp provider: the official client over Streamable HTTP, or over what a host connects by itself. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { type JsonObject, describe, jsonFromJs } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { timeoutMs } from "../tool/endpoint.ts";
import { codeOf, maxTimer, unreachable } from "./http.ts";
import { mcpAnswer, mcpFailure, mcpMisfit, mcpParams, rpcFailure, stdioName } from "./mcp-form.ts";
import type { Dispatching, Provider, Run } from "../tool/provider.ts";
import type { Registered } from "../tool/registry.ts";
import { type Answer, messageOf } from "../tool/result.ts";

export interface McpOptions {
  /** Follows no redirects, and asks no address that it may not: `guardedFetch`, or a platform's own. */
  readonly fetch: typeof fetch;
  /** Of all that one response holds. */
  readonly maxBytes?: number;
  /** Connects to a server that the host runs itself: `runtime: "stdio:{name}"`. */
  readonly stdio?: (name: string) => Transport | undefined;
}

const defaultBytes = 4 * 1024 * 1024;

/** The server answered, but not as one does. */
class HttpFailed extends Error {}

/** Ends a body that holds more than it may. */
const bounded = (maxBytes: number): TransformStream<Uint8Array, Uint8Array> => {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > maxBytes) controller.error(new Error(`response larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
};

/** Bounds what is read, and keeps what a server says of a request that it refuses. */
const watched =
  (options: McpOptions): typeof fetch =>
  async (input, init) => {
    const response = await options.fetch(input, init);
    const body = response.body?.pipeThrough(bounded(options.maxBytes ?? defaultBytes)) ?? null;
    const kept = new Response(body, response);
    if (response.ok || init?.method !== "POST") return kept;
    throw new HttpFailed(`MCP server returned HTTP ${response.status}: ${await kept.text()}`);
  };

const transportOf = (options: McpOptions, { name, runtime }: Registered): Transport | Answer => {
  const misfit = mcpMisfit(name, runtime);
  if (misfit !== undefined) return misfit;
  const server = stdioName(runtime);
  if (server === undefined) {
    const transport = new StreamableHTTPClientTransport(new URL(runtime.trim()), { fetch: watched(options) });
    return transport as Transport; // Its optional fields are of before exactOptionalPropertyTypes.
  }
  return options.stdio?.(server) ?? mcpFailure(`no stdio server \`${server}\`: name it in the options of the host`);
};

/** What an error of the client says, without the prefix that it puts in front of the server's words. */
const failureOf = (thrown: unknown, url: string): Answer => {
  if (thrown instanceof McpError) {
    return rpcFailure(thrown.code, thrown.message.replace(`MCP error ${thrown.code}: `, ""));
  }
  if (thrown instanceof HttpFailed) return mcpFailure(thrown.message);
  if (unreachable.has(codeOf(thrown))) return mcpFailure(`cannot connect to MCP server at ${url}`);
  const isMalformed = thrown instanceof SyntaxError || (thrown instanceof Error && thrown.name === "ZodError");
  return mcpFailure(`${isMalformed ? "invalid JSON-RPC response" : "MCP request failed"}: ${messageOf(thrown)}`);
};

const asked = async (
  transport: Transport,
  entry: Registered,
  argument: string,
  signal: AbortSignal,
): Promise<Answer> => {
  const client = new Client({ name: "pawl", version: "0.1.0" });
  const timing = { signal, timeout: Math.min(timeoutMs(entry.timeout), maxTimer) };
  try {
    await client.connect(transport, timing);
    const { name, arguments: args } = mcpParams(entry.name, argument);
    const result = jsonFromJs(await client.callTool({ name, arguments: args }, undefined, timing));
    return E.isLeft(result)
      ? mcpFailure(`invalid JSON-RPC response: ${describe(result.left)}`)
      : mcpAnswer(result.right as JsonObject);
  } finally {
    await client.close();
  }
};

const runMcp =
  (options: McpOptions, entry: Registered): Run =>
  async (argument: string, { signal }: Dispatching): Promise<Answer> => {
    const transport = transportOf(options, entry);
    if ("success" in transport) return transport;
    const ms = timeoutMs(entry.timeout);
    const late = AbortSignal.timeout(Math.min(ms, maxTimer));
    try {
      return await asked(transport, entry, argument, AbortSignal.any([signal, late]));
    } catch (thrown) {
      if (late.aborted) return mcpFailure(`MCP server timed out after ${Math.floor(ms / 1000)}s`);
      return failureOf(thrown, entry.runtime.trim());
    }
  };

export const mcpProvider =
  (options: McpOptions): Provider =>
  (entry) =>
    runMcp(options, entry);
