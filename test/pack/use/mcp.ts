import { memoryJournal } from "@pawl/runtime";
import { elicit, serveMcp } from "@pawl/mcp";
import { mcpTools } from "@pawl/mcp/client";
import { listen } from "@pawl/mcp/node";

console.log(typeof serveMcp, typeof elicit, typeof listen, typeof mcpTools, typeof memoryJournal);
