/** `@pawl/flow/node`: the guarded `fetch`, and MCP servers as child processes of the host. */
import type { Transport } from "@modelcontextprotocol/client";
import { type StdioCommand, stdio } from "@pawl/mcp/node";

export { type GuardOptions, guardedFetch } from "@pawl/egress/node";

/** An MCP server over stdio. Its process lives as long as one call. */
export type StdioServer = StdioCommand;

/** Returns a function that starts a server by name; undefined for a name that the host did not configure. */
export const stdioServers =
  (servers: { readonly [name: string]: StdioServer }) =>
  (name: string): (() => Transport) | undefined => {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    return server && stdio(server);
  };
