/** `@pawl/mcp`: durable tools as an MCP server with tasks, and what such tools may ask their clients. */
export { type ServedMcp, serveMcp } from "./server/serve.ts";
export {
  type Caller,
  type CallerRight,
  type McpServerOptions,
  type ProtectedResource,
  type ToolPolicy,
} from "./server/options.ts";
export { idempotencyKey, tasksExtension } from "./server/wire.ts";
export { elicit, listRoots, sample } from "./tool/ask.ts";
export { mcpResult } from "./tool/content.ts";
