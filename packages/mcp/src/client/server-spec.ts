/** A server of MCP as a program names it, and how it is reached. */
import {
  type FetchLike,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Log } from "@pawl/runtime";

/** Signs in to a server that asks for it. */
export interface McpLogin {
  /** Keeps what is known of the client and its tokens. */
  readonly provider: OAuthClientProvider;
  /** Waits until the person is back from the authorization server, and returns the parameters of the address they came to. */
  readonly callback: () => Promise<URLSearchParams>;
}

export interface McpServer {
  /** Names the server in logs and in the ids of its tools. */
  readonly name: string;
  /** Begins the names of its tools. Default: the server's name and an underscore. */
  readonly prefix?: string;
  /** The address of a server over streamable HTTP. */
  readonly url?: string | URL;
  /** Makes a connection in place of one to `url`: `stdio(…)` of `@pawl/mcp/node`, or a program's own. */
  readonly transport?: () => Transport;
  /** Sends requests to `url`. Guard it where addresses come from others. */
  readonly fetch?: FetchLike;
  /** Headers of each request to `url`, a bearer token say. */
  readonly headers?: { readonly [name: string]: string };
  readonly login?: McpLogin;
  /** The server's word on its tools counts: one that is said to be read-only or idempotent is called again after a crash. */
  readonly trusted?: boolean;
  /** A tool whose description or schema has changed waits for a person before it runs. Default: false. */
  readonly holdChanged?: boolean;
  /** Hashes of tools as they were seen before, by their names there: another one counts as changed. */
  readonly seen?: { readonly [tool: string]: string };
  /** Folders that the server is told of when it asks. Default: a person is asked. */
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[];
  /** Time for which an answer is waited for. Each report of progress starts it anew. Default: 10 minutes. */
  readonly timeoutMs?: number;
  readonly log?: Log;
}

/** Makes a transport to a server. */
export const transportTo = ({ name, url, transport, fetch, headers, login }: McpServer): Transport => {
  if (transport !== undefined) return transport();
  if (url === undefined) throw new TypeError(`MCP server \`${name}\`: expected a url or a transport, found neither`);
  return new StreamableHTTPClientTransport(new URL(url), {
    ...(fetch === undefined ? {} : { fetch }),
    ...(headers === undefined ? {} : { requestInit: { headers: { ...headers } } }),
    ...(login === undefined ? {} : { authProvider: login.provider }),
  });
};
