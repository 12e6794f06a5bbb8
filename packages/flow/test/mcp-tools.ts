/** The tools of the MCP servers of the tests. */
import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

const text = (...lines: readonly string[]) => ({
  content: lines.map((line) => ({ type: "text" as const, text: line })),
});

export const tools = (server: McpServer): void => {
  server.registerTool("Echo", { inputSchema: z.object({ input: z.string() }) }, ({ input }) =>
    text(input, "twice", input),
  );
  server.registerTool("Search", { inputSchema: z.object({ query: z.string(), n: z.number() }) }, (args) =>
    text(JSON.stringify(args)),
  );
  server.registerTool("Broken", { inputSchema: z.object({ input: z.string() }) }, () => ({
    ...text("it broke"),
    isError: true,
  }));
  server.registerTool("Silent", { inputSchema: z.object({ input: z.string() }) }, () => ({ content: [] }));
  server.registerTool("Tagged", { inputSchema: z.object({ input: z.string() }) }, () => ({
    content: [],
    _meta: { $lash_tool_value: "nope" },
  }));
  server.registerTool("Slow", { inputSchema: z.object({ input: z.string() }) }, () => new Promise(() => undefined));
};
