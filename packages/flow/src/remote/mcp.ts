/** The mcp provider: one call of a server's tool, over streamable HTTP or over a transport of the host. */
import { ProtocolError, type Transport } from "@modelcontextprotocol/client";
import { type McpServer, singleCall } from "@pawl/mcp/client";
import { type Json, type JsonObject, isObject, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { isHttp, stdioName, timeoutMs, timerMs } from "../tool/endpoint.ts";
import type { Dispatching, Provider, Run } from "../tool/provider.ts";
import type { Registered } from "../tool/registry.ts";
import { type Answer, failed, messageOf, succeeded } from "../tool/result.ts";
import { unreachable } from "./http.ts";

type Blame = "server" | "caller" | "network";

const blamed = (text: string, blame: Blame): Answer => failed(`${text} [blame=${blame}]`);

/** Returns the failure of a declaration whose server cannot be called. */
const serverProblem = (tool: string, runtime: string): Answer | undefined => {
  const url = runtime.trim();
  if (url === "") return failed(`ℰMCP tool '${tool}': no server URL. Set runtime: "http://..." in tool definition.`);
  if (isHttp(url) || stdioName(url) !== undefined) return undefined;
  return failed(`ℰMCP tool '${tool}': invalid server URL '${url}'. Must start with http:// or https://.`);
};

interface ToolCallParams {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Returns the parameters of `tools/call`. The argument is the whole parameters, or the tool's arguments, or one input text. */
const paramsFor = (tool: string, argument: string): ToolCallParams => {
  const json = /^\s*\{/.test(argument) ? parse(argument) : undefined;
  const object = json !== undefined && E.isRight(json) ? json.right : undefined;
  if (!isObject(object)) return { name: tool, arguments: { input: argument } };
  const { name, arguments: args } = object;
  return typeof name === "string" && isObject(args) ? { name, arguments: args } : { name: tool, arguments: object };
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
  readonly stdio?: (name: string) => (() => Transport) | undefined;
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

/** Limits the size of responses, and puts the body of a server's failure into the error. */
const limitedFetch =
  (options: McpOptions): typeof fetch =>
  async (input, init) => {
    const response = await options.fetch(input, init);
    const body = response.body?.pipeThrough(limited(options.maxBytes ?? defaultBytes)) ?? null;
    const limitedResponse = new Response(body, response);
    if (response.status < 500) return limitedResponse; // A server of another generation refuses what it does not know.
    throw new HttpFailed(`MCP server returned HTTP ${response.status}: ${await limitedResponse.text()}`);
  };

const serverOf = (options: McpOptions, { name, runtime }: Registered): McpServer | Answer => {
  const problem = serverProblem(name, runtime);
  if (problem !== undefined) return problem;
  const local = stdioName(runtime);
  if (local === undefined) return { name, url: runtime.trim(), fetch: limitedFetch(options) };
  const transport = options.stdio?.(local);
  if (transport !== undefined) return { name, transport };
  return mcpFailure(`no stdio server \`${local}\`: name it in the options of the host`);
};

/** Lists an error and its causes. */
const causesOf = (thrown: unknown): readonly unknown[] =>
  thrown instanceof Error ? [thrown, ...causesOf(thrown.cause)] : [];

const isMalformed = (thrown: unknown): boolean =>
  thrown instanceof SyntaxError || (thrown instanceof Error && thrown.name === "ZodError");

/** Turns an error of the client into a failure. */
const failureOf = (thrown: unknown, url: string): Answer => {
  if (thrown instanceof ProtocolError) return rpcFailure(thrown.code, thrown.message);
  const causes = causesOf(thrown);
  const refused = causes.find((cause) => cause instanceof HttpFailed);
  if (refused instanceof HttpFailed) return mcpFailure(refused.message);
  if (causes.some((cause) => unreachable.has((cause as { readonly code?: unknown }).code)))
    return mcpFailure(`cannot connect to MCP server at ${url}`);
  const malformed = causes.find(isMalformed);
  const said = malformed === undefined ? "MCP request failed" : "invalid JSON-RPC response";
  return mcpFailure(`${said}: ${messageOf(malformed ?? causes.at(-1) ?? thrown)}`);
};

const runMcp =
  (options: McpOptions, entry: Registered): Run =>
  async (argument: string, { signal }: Dispatching): Promise<Answer> => {
    const server = serverOf(options, entry);
    if ("success" in server) return server;
    const timeout = AbortSignal.timeout(timerMs(entry.timeout));
    try {
      const both = AbortSignal.any([signal, timeout]);
      const call = { ...paramsFor(entry.name, argument), signal: both, timeoutMs: timerMs(entry.timeout) };
      return answerOf(await singleCall(server, call));
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
