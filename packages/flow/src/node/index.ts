/** `@pawl/flow/node`: the guarded `fetch`, and MCP servers as child processes of the host. */
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export { type GuardOptions, guardedFetch } from "@pawl/egress/node";

/** An MCP server over stdio. Its process lives as long as one call. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
}

/** Returns a function that starts a server by name; undefined for a name that the host did not configure. */
export const stdioServers =
  (servers: { readonly [name: string]: StdioServer }) =>
  (name: string): Transport | undefined => {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (server === undefined) return undefined;
    const { args = [], env, ...rest } = server;
    return new StdioClientTransport({ ...rest, args: [...args], ...(env === undefined ? {} : { env: { ...env } }) });
  };
