/** A flow with a loop and parallel branches, which calls a native tool, a tool over HTTP and a tool over MCP. */
import { mkdtempSync, rmSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { McpServer, createMcpHandler, fromJsonSchema } from "@modelcontextprotocol/server";
import { openRuntime } from "@pawl/driver-node";
import * as f from "@pawl/flow";
import { mcpProvider } from "@pawl/flow/mcp";
import { guardedFetch } from "@pawl/flow/node";
import { listen } from "@pawl/mcp/node";

const serve = async (listener: RequestListener) => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
};

/** The outside world: a shop with prices, and an MCP server. */
const shop = await serve(async (request, response) => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  const { item } = JSON.parse(text) as { readonly item: string };
  response.end(JSON.stringify({ price: item.length * 2 }));
});
const words = await listen(
  createMcpHandler(() => {
    const server = new McpServer({ name: "words", version: "1" });
    const inputSchema = fromJsonSchema<{ input: string }>({
      type: "object",
      properties: { input: { type: "string" } },
    });
    server.registerTool("Shout", { inputSchema }, ({ input }) => ({ content: [{ type: "text", text: `¡${input}!` }] }));
    return server;
  }).fetch,
);

const registry = new f.Registry([
  {
    name: "Price",
    provider: "http",
    runtime: shop.url,
    timeout: "2s",
    effect_row: ["read"],
    parameters: [["item", "String"]],
  },
  { name: "Shout", provider: "mcp", runtime: words.url, effect_row: ["read"] },
]);
// Loopback is refused by default; the servers of this example run there.
const fetch = guardedFetch({ allow: (address) => address === "127.0.0.1" });
const providers = { ...f.plainProviders, http: f.httpProvider({ fetch }), mcp: mcpProvider({ fetch }) };
const { definitions, tools } = f.programTools({ registry, providers });

const program = f.flow("Bill", [
  f.each("item", "$items", [
    f.use("Price", { item: f.ref("item") }),
    f.use("Calculator", "${Price_result.price} * 1.2"),
    f.when(f.is("Calculator_result", ">", "9"), [f.stop]),
  ]),
  f.par([f.use("Shout", "$item")], [f.use("DateTimeTool", "weekday")]),
  f.back("${item} costs ${Calculator_result}"),
]);

const folder = mkdtempSync(join(tmpdir(), "pawl-flow-"));
const { runtime, close } = openRuntime({
  file: join(folder, "journal.db"),
  tools: definitions,
  host: { flow: { observe: (_, __, event) => console.log(JSON.stringify(event)) } },
});
const session = await runtime.session("shop");
const { ending } = await session.flow({
  request: "bill-1",
  flow: program,
  bindings: { items: "tea, sugar, milk" },
  tools,
});
console.log(JSON.stringify(ending));
await close();
rmSync(folder, { recursive: true });
for (const { server } of [shop]) {
  server.closeAllConnections();
  server.close();
}
await words.close();
