/** `@pawl/mcp/client`: the tools of any MCP server as durable tools. */
export { type McpLogin, type McpServer } from "./server-spec.ts";
export { type McpTools, mcpTools } from "./tools.ts";
export { type SingleCall, singleCall } from "./single-call.ts";
