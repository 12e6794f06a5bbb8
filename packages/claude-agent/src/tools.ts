/**
 * Tools of pawl as an MCP server inside the program, which the SDK's process reaches through it. A call is a request of the
 * session, named by the model's id of the call: asked for again, after a crash, it is the same call.
 */
import type { McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { type CallToolResult, CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { type Session, type ToolDefinition, contractOf } from "@pawl/runtime";
import { type Json, formatToolOutput, isSuccess } from "@pawl/tool-value";
import type { Written } from "./turn.ts";

/** The name of the server. Models know its tools as `mcp__pawl__{tool}`. */
const serverName = "pawl";
const prefix = `mcp__${serverName}__`;

/** Returns the tool of pawl that the model calls by a name. */
export const pawlToolOf = (name: string): string | undefined =>
  name.startsWith(prefix) ? name.slice(prefix.length) : undefined;

export const requestOf = (toolUseId: string): string => `claude:${toolUseId}`;

/** Calls a tool, or joins its call. */
export const callOnce = async (
  session: Session,
  toolUseId: string,
  tool: string,
  args: unknown,
  signal?: AbortSignal,
): Promise<CallToolResult> => {
  const request = requestOf(toolUseId);
  const stop = (): void => void session.cancel({ request }).catch(() => undefined); // The call may have ended meanwhile.
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const [reply] = await session.request(request, [{ label: toolUseId, tool, args: (args ?? {}) as Json }]);
    if (reply === undefined) throw new TypeError("a request of one call has one reply");
    const { output } = reply;
    return { content: [{ type: "text", text: formatToolOutput(output) }], isError: !isSuccess(output) };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
};

const idIn = (meta: { readonly [name: string]: unknown } | undefined): string => {
  const id = meta?.["claudecode/toolUseId"];
  if (typeof id === "string" && id !== "") return id;
  throw new TypeError(
    `a call of a tool came without the model's id of it (\`claudecode/toolUseId\`), found ${JSON.stringify(meta)}: use a newer @anthropic-ai/claude-agent-sdk`,
  );
};

/** Milliseconds in which the SDK has an answer in its transcript, after it has begun to act on it: it takes some 100. */
const writtenWithinMs = 60_000;

const onRecord = async (written: Written, id: string): Promise<void> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const why = `call ${id} was not made: the answer that asks for it is not in the transcript after ${writtenWithinMs} ms`;
  const timer = setTimeout(() => reject(new Error(why)), writtenWithinMs);
  try {
    await Promise.race([written.use(id), late]);
  } finally {
    clearTimeout(timer);
  }
};

export const serverOf = (
  session: Session,
  tools: readonly ToolDefinition[],
  written: Written,
): McpSdkServerConfigWithInstance => {
  const instance = new McpServer({ name: serverName, version: "1.0.0" }, { capabilities: { tools: {} } });
  instance.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map((tool) => ({
      name: tool.name,
      description: tool.description ?? "",
      inputSchema: { ...(contractOf(tool).input_schema as object), type: "object" as const },
    })),
  }));
  instance.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: args, _meta: meta } = params;
    const id = idIn(meta);
    await onRecord(written, id);
    return callOnce(session, id, name, args, signal);
  });
  return { type: "sdk", name: serverName, instance };
};
