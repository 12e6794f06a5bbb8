/** The tools of the MCP servers of the tests. */
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";

const text = (...lines: readonly string[]) => ({
  content: lines.map((line) => ({ type: "text" as const, text: line })),
});

export const tools = (server: McpServer): void => {
  server.registerTool("Echo", { inputSchema: { input: z.string() } }, ({ input }) => text(input, "twice", input));
  server.registerTool("Search", { inputSchema: { query: z.string(), n: z.number() } }, (args) =>
    text(JSON.stringify(args)),
  );
  server.registerTool("Broken", { inputSchema: { input: z.string() } }, () => ({ ...text("it broke"), isError: true }));
  server.registerTool("Silent", { inputSchema: { input: z.string() } }, () => ({ content: [] }));
  server.registerTool("Tagged", { inputSchema: { input: z.string() } }, () => ({
    content: [],
    _meta: { $lash_tool_value: "nope" },
  }));
  server.registerTool("Slow", { inputSchema: { input: z.string() } }, () => new Promise(() => undefined));
};
