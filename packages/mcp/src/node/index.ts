/** `@pawl/mcp/node`: MCP over HTTP and stdio in a Node process. */
export { type Fetch, type Listening, type ListenOptions, listen } from "./listen.ts";
export { type StdioCommand, serveOverStdio, stdio } from "./stdio.ts";
