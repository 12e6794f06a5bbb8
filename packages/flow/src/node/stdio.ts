/** MCP servers that a host runs as processes of its own, each for as long as one call takes. */
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
}

/** Connects by name; a name that the host did not give has no server. */
export const stdioServers =
  (servers: { readonly [name: string]: StdioServer }) =>
  (name: string): Transport | undefined => {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (server === undefined) return undefined;
    const { args = [], env, ...rest } = server;
    return new StdioClientTransport({ ...rest, args: [...args], ...(env === undefined ? {} : { env: { ...env } }) });
  };
