/** What the mcp provider asks, and how it tells what went wrong, and by whose fault. */
import { type Json, type JsonObject, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { isHttp } from "../tool/endpoint.ts";
import { type Answer, failed, succeeded } from "../tool/result.ts";

export type Blame = "server" | "caller" | "network";

export const blamed = (text: string, blame: Blame): Answer => failed(`${text} [blame=${blame}]`);

/** A server that the host runs itself, by the name that it goes by there. */
export const stdioName = (runtime: string): string | undefined =>
  runtime.trim().startsWith("stdio:") ? runtime.trim().slice("stdio:".length) : undefined;

/** Why a declared server can not be asked, if it can't. */
export const mcpMisfit = (tool: string, runtime: string): Answer | undefined => {
  const url = runtime.trim();
  if (url === "") return failed(`ℰMCP tool '${tool}': no server URL. Set runtime: "http://..." in tool definition.`);
  if (isHttp(url) || stdioName(url) !== undefined) return undefined;
  return failed(`ℰMCP tool '${tool}': invalid server URL '${url}'. Must start with http:// or https://.`);
};

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json);

const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object };

/** As the SDK writes it: integers that no number holds go as their digits. */
const written = (json: Json): unknown => {
  if (typeof json === "bigint") return rawJSON(`${json}`);
  if (Array.isArray(json)) return json.map(written);
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, written(value)]));
};

export interface ToolCallParams {
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
}

const paramsOf = (name: string, args: JsonObject): ToolCallParams => ({
  name,
  arguments: written(args) as ToolCallParams["arguments"],
});

/** The parameters of `tools/call`: given as they are, or the arguments of the tool, or one text as its input. */
export const mcpParams = (tool: string, argument: string): ToolCallParams => {
  const json = /^\s*\{/.test(argument) ? parse(argument) : undefined;
  const object = json !== undefined && E.isRight(json) ? json.right : undefined;
  if (!isObject(object)) return { name: tool, arguments: { input: argument } };
  const { name, arguments: args } = object;
  return typeof name === "string" && isObject(args) ? paramsOf(name, args) : paramsOf(tool, object);
};

/** What a tool's result says: its texts, one a line; without one the whole of it. */
export const mcpAnswer = (result: JsonObject): Answer => {
  const { content, isError } = result;
  const items = Array.isArray(content) ? content : [];
  const texts = items.flatMap((item: Json) =>
    isObject(item) && item["type"] === "text" && typeof item["text"] === "string" ? [item["text"]] : [],
  );
  const output = texts.length === 0 ? stringify(result) : texts.join("\n");
  return isError === true ? blamed(output, "server") : succeeded(output);
};

/** An error that the server answered with. */
export const rpcFailure = (code: number, message: string): Answer =>
  blamed(`JSON-RPC error ${code}: ${message}`, code >= -32_603 && code <= -32_600 ? "caller" : "server");

export const mcpFailure = (text: string): Answer => blamed(`ℰMCP error: ${text}`, "network");
