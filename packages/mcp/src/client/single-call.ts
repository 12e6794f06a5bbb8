/** One call of a server's tool over a connection of its own, for programs that keep their own record. */
import { Client, SERVER_INFO_META_KEY } from "@modelcontextprotocol/client";
import { type JsonObject, describe, isObject, jsonFromJs } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { forStringify } from "../server/encoding.ts";
import { type McpServer, transportTo } from "./server-spec.ts";

/** A call as a server is sent it. */
export interface SingleCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly signal: AbortSignal;
  /** Time for which each answer is waited for. */
  readonly timeoutMs: number;
}

/** Leaves out which server it was: a result is what the tool says. */
const withoutServer = ({ _meta: meta, ...result }: JsonObject): JsonObject => {
  if (!isObject(meta)) return meta === undefined ? result : { _meta: meta, ...result };
  const { [SERVER_INFO_META_KEY]: _, ...own } = meta;
  return Object.keys(own).length === 0 ? result : { _meta: own, ...result };
};

/** Connects to a server, calls a tool, and ends the connection. Returns the result as the server gave it. */
export const singleCall = async (server: McpServer, call: SingleCall): Promise<JsonObject> => {
  const client = new Client({ name: "pawl", version: "0.1.0" }, { versionNegotiation: { mode: "auto" } });
  const timing = { signal: call.signal, timeout: call.timeoutMs };
  try {
    await client.connect(transportTo(server), timing);
    const args = forStringify(call.arguments) as { [key: string]: unknown };
    const result = jsonFromJs(await client.callTool({ name: call.name, arguments: args }, timing));
    if (E.isLeft(result) || !isObject(result.right))
      throw new SyntaxError(E.isLeft(result) ? describe(result.left) : "expected an object");
    return withoutServer(result.right);
  } finally {
    await client.close();
  }
};
