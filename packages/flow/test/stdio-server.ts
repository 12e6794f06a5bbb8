/** An MCP server over stdio, as a process of its own. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { tools } from "./mcp-tools.ts";

serveStdio(() => {
  const server = new McpServer({ name: "stdio", version: "1" });
  tools(server);
  return server;
});
