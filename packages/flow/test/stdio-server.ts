/** An MCP server over stdio, as a process of its own. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { tools } from "./mcp-tools.ts";

const server = new McpServer({ name: "stdio", version: "1" });
tools(server);
await server.connect(new StdioServerTransport());
