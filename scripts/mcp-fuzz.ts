/** Sends mutated messages of JSON-RPC to an MCP server, 100,000 or as many as are asked for, and watches its memory. */
import { defineTool } from "@pawl/runtime";
import { fuzz } from "../packages/mcp/test/fuzz.ts";
import { openServer } from "../packages/mcp/test/open.ts";

const [messages, seed] = [Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? Date.now())];
const server = openServer([defineTool({ name: "echo", execute: (args) => args })], { immediateMs: 0 });
const heapOf = (): number => Math.round(process.memoryUsage().rss / 1024 ** 2);
const before = heapOf();
const { statuses, wrong } = await fuzz(server, seed, messages, ["", "x.y"]);
await server.end();
for (const line of wrong.slice(0, 20)) console.error(line);
console.log(
  `seed ${seed}: ${messages} messages, ${wrong.length} went wrong; ${JSON.stringify(statuses)}; ${before} MB before, ${heapOf()} MB after`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
