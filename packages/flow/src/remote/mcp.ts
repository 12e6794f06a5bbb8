/** The mcp provider: the official client, over Streamable HTTP or over a transport of the host. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { type Json, type JsonObject, describe, jsonFromJs, parse, stringify, isObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { isHttp, stdioName, timeoutMs, timerMs } from "../tool/endpoint.ts";
import type { Dispatching, Provider, Run } from "../tool/provider.ts";
import type { Registered } from "../tool/registry.ts";
import { type Answer, failed, messageOf, succeeded } from "../tool/result.ts";
import { codeOf, unreachable } from "./http.ts";

type Blame = "server" | "caller" | "network";

const blamed = (text: string, blame: Blame): Answer => failed(`${text} [blame=${blame}]`);

/** Returns the failure of a declaration whose server cannot be called. */
const serverProblem = (tool: string, runtime: string): Answer | undefined => {
  const url = runtime.trim();
  if (url === "") return failed(`ℰMCP tool '${tool}': no server URL. Set runtime: "http://..." in tool definition.`);
  if (isHttp(url) || stdioName(url) !== undefined) return undefined;
  return failed(`ℰMCP tool '${tool}': invalid server URL '${url}'. Must start with http:// or https://.`);
};

const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object };

/** Converts a value for the SDK's `JSON.stringify`: integers beyond the safe range become raw digits. */
const forSdk = (json: Json): unknown => {
  if (typeof json === "bigint") return rawJSON(`${json}`);
  if (Array.isArray(json)) return json.map(forSdk);
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, forSdk(value)]));
};

interface ToolCallParams {
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
}

const paramsOf = (name: string, args: JsonObject): ToolCallParams => ({
  name,
  arguments: forSdk(args) as ToolCallParams["arguments"],
});

/** Returns the parameters of `tools/call`. The argument is the whole parameters, or the tool's arguments, or one input text. */
const paramsFor = (tool: string, argument: string): ToolCallParams => {
  const json = /^\s*\{/.test(argument) ? parse(argument) : undefined;
  const object = json !== undefined && E.isRight(json) ? json.right : undefined;
  if (!isObject(object)) return { name: tool, arguments: { input: argument } };
  const { name, arguments: args } = object;
  return typeof name === "string" && isObject(args) ? paramsOf(name, args) : paramsOf(tool, object);
};

/** Returns the texts of a tool's result, one a line, or the whole result if it has none. */
const answerOf = (result: JsonObject): Answer => {
  const { content, isError } = result;
  const items = Array.isArray(content) ? content : [];
  const texts = items.flatMap((item: Json) =>
    isObject(item) && item["type"] === "text" && typeof item["text"] === "string" ? [item["text"]] : [],
  );
  const output = texts.length === 0 ? stringify(result) : texts.join("\n");
  return isError === true ? blamed(output, "server") : succeeded(output);
};

/** Returns the failure for an error of JSON-RPC. Its standard codes are the caller's fault. */
const rpcFailure = (code: number, message: string): Answer =>
  blamed(`JSON-RPC error ${code}: ${message}`, code >= -32_603 && code <= -32_600 ? "caller" : "server");

const mcpFailure = (text: string): Answer => blamed(`ℰMCP error: ${text}`, "network");

export interface McpOptions {
  /** Must follow no redirects and refuse private addresses: `guardedFetch`, or a platform's own. */
  readonly fetch: typeof fetch;
  /** The limit of one response. */
  readonly maxBytes?: number;
  /** Connects to a server that the host starts itself: `runtime: "stdio:{name}"`. */
  readonly stdio?: (name: string) => Transport | undefined;
}

const defaultBytes = 4 * 1024 * 1024;

class HttpFailed extends Error {}

/** Fails a body that exceeds `maxBytes`. */
const limited = (maxBytes: number): TransformStream<Uint8Array, Uint8Array> => {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > maxBytes) controller.error(new Error(`response larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
};

/** Limits the size of responses, and puts the body of a refusal into the error. */
const limitedFetch =
  (options: McpOptions): typeof fetch =>
  async (input, init) => {
    const response = await options.fetch(input, init);
    const body = response.body?.pipeThrough(limited(options.maxBytes ?? defaultBytes)) ?? null;
    const limitedResponse = new Response(body, response);
    if (response.ok || init?.method !== "POST") return limitedResponse;
    throw new HttpFailed(`MCP server returned HTTP ${response.status}: ${await limitedResponse.text()}`);
  };

const transportOf = (options: McpOptions, { name, runtime }: Registered): Transport | Answer => {
  const problem = serverProblem(name, runtime);
  if (problem !== undefined) return problem;
  const server = stdioName(runtime);
  if (server === undefined) {
    const transport = new StreamableHTTPClientTransport(new URL(runtime.trim()), { fetch: limitedFetch(options) });
    return transport as Transport; // The SDK's optional fields ignore exactOptionalPropertyTypes.
  }
  return options.stdio?.(server) ?? mcpFailure(`no stdio server \`${server}\`: name it in the options of the host`);
};

/** Turns an error of the client into a failure, without the prefix that the client adds. */
const failureOf = (thrown: unknown, url: string): Answer => {
  if (thrown instanceof McpError) {
    return rpcFailure(thrown.code, thrown.message.replace(`MCP error ${thrown.code}: `, ""));
  }
  if (thrown instanceof HttpFailed) return mcpFailure(thrown.message);
  if (unreachable.has(codeOf(thrown))) return mcpFailure(`cannot connect to MCP server at ${url}`);
  const isMalformed = thrown instanceof SyntaxError || (thrown instanceof Error && thrown.name === "ZodError");
  return mcpFailure(`${isMalformed ? "invalid JSON-RPC response" : "MCP request failed"}: ${messageOf(thrown)}`);
};

const callTool = async (
  transport: Transport,
  entry: Registered,
  argument: string,
  signal: AbortSignal,
): Promise<Answer> => {
  const client = new Client({ name: "pawl", version: "0.1.0" });
  const timing = { signal, timeout: timerMs(entry.timeout) };
  try {
    await client.connect(transport, timing);
    const { name, arguments: args } = paramsFor(entry.name, argument);
    const result = jsonFromJs(await client.callTool({ name, arguments: args }, undefined, timing));
    return E.isLeft(result)
      ? mcpFailure(`invalid JSON-RPC response: ${describe(result.left)}`)
      : answerOf(result.right as JsonObject);
  } finally {
    await client.close();
  }
};

const runMcp =
  (options: McpOptions, entry: Registered): Run =>
  async (argument: string, { signal }: Dispatching): Promise<Answer> => {
    const transport = transportOf(options, entry);
    if ("success" in transport) return transport;
    const timeout = AbortSignal.timeout(timerMs(entry.timeout));
    try {
      return await callTool(transport, entry, argument, AbortSignal.any([signal, timeout]));
    } catch (thrown) {
      if (timeout.aborted)
        return mcpFailure(`MCP server timed out after ${Math.floor(timeoutMs(entry.timeout) / 1000)}s`);
      return failureOf(thrown, entry.runtime.trim());
    }
  };

/** Makes the provider that calls tools of MCP servers. */
export const mcpProvider =
  (options: McpOptions): Provider =>
  (entry) =>
    runMcp(options, entry);
