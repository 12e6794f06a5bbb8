/** Results as a tool of MCP has them: content blocks that a durable tool returns as they are. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Json, isObject } from "@pawl/tool-value";

const resultKey = "mcp.result";

/** Marks content blocks as the result of a tool: a server passes them on as they are, and other readers see JSON. */
export const mcpResult = (result: Pick<CallToolResult, "content" | "structuredContent" | "isError">): Json => ({
  [resultKey]: result as unknown as Json,
});

/** Reads a result that `mcpResult` has made. */
export const mcpResultIn = (value: Json): CallToolResult | undefined => {
  const marked = isObject(value) && Object.keys(value).length === 1 ? value[resultKey] : undefined;
  return isObject(marked) && Array.isArray(marked["content"]) ? (marked as unknown as CallToolResult) : undefined;
};
