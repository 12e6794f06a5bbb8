/**
 * `mcpTools`: the tools of an MCP server as tools of a runtime. The list is what the server says, under a prefix; it is on
 * record in each scope that sees it, and its changes come as news of the catalog. Each tool is marked with the hash of its
 * description and schemas.
 */
import type { Tool } from "@modelcontextprotocol/client";
import { type ToolDefinition, type ToolProvider, contractOf, manifestOf } from "@pawl/runtime";
import { type Json, type JsonObject, isObject, stableHash } from "@pawl/tool-value";
import { type RemoteTool, callRemote } from "./call.ts";
import { McpConnection } from "./connection.ts";
import type { McpServer } from "./server-spec.ts";

/** Tools of a server, to be provided to a registry. */
export interface McpTools {
  readonly provider: ToolProvider;
  /** The hash of each tool as it is now, by its name there: kept, and given as `seen`, it tells what has changed. */
  readonly seen: () => { readonly [tool: string]: string };
  /** Takes a changed tool as it is now: its calls run without a person's word again. */
  readonly accept: (tool: string) => void;
  /** Asks the server for its tools again. */
  readonly refresh: () => Promise<void>;
  /** Ends the connection, and a server that was started for it. */
  readonly close: () => Promise<void>;
}

/** Returns the hash of all that a model is told of a tool. */
const hashOf = ({ name, title, description, inputSchema, outputSchema }: Tool): string =>
  stableHash([name, title ?? null, description ?? null, inputSchema, outputSchema ?? null] as unknown as Json);

/** Names are of letters, digits, `_` and `-`, as models take them. */
const nameIn = ({ name, prefix = `${name}_` }: McpServer, tool: string): string =>
  `${prefix}${tool}`.replaceAll(/[^\w-]/g, "_");

const definitionOf = (server: McpServer, connection: McpConnection, tool: Tool, isHeld: boolean): ToolDefinition => {
  const { name, title, description = "", inputSchema, outputSchema, annotations = {} } = tool;
  const { readOnlyHint, idempotentHint, destructiveHint, openWorldHint } = annotations;
  const mayRepeat = server.trusted === true && (readOnlyHint === true || idempotentHint === true);
  const remote: RemoteTool = { server, connection, name, mayRepeat };
  const hints = {
    ...(destructiveHint === undefined ? {} : { destructive: destructiveHint }),
    ...(openWorldHint === undefined ? {} : { open_world: openWorldHint }),
    metadata: { mcp: { server: server.name, tool: name, hash: hashOf(tool) } },
  };
  return {
    name: nameIn(server, name),
    id: `mcp:${server.name}:${name}`,
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema: inputSchema as never,
    manifest: { hints, ...(isObject(outputSchema as Json) ? { output_schema: outputSchema as unknown as Json } : {}) },
    durable: true,
    ...(server.trusted === true && readOnlyHint === true ? { readOnly: true } : {}),
    ...(server.trusted === true && idempotentHint === true ? { idempotent: true } : {}),
    ...(isHeld ? { needsApproval: true } : {}),
    execute: (args, context) => callRemote(remote, args as Json, context),
  };
};

/** Connects to a server, and returns its tools. */
export const mcpTools = async (server: McpServer): Promise<McpTools> => {
  let listed: readonly Tool[] = [];
  let definitions: ReadonlyMap<string, ToolDefinition> = new Map();
  const seen = new Map(Object.entries(server.seen ?? {}));
  const watchers = new Set<() => void>();
  const define = (): void => {
    const defined = listed.map((tool) => {
      const known = seen.get(tool.name) ?? hashOf(tool);
      seen.set(tool.name, known);
      return definitionOf(server, connection, tool, server.holdChanged === true && known !== hashOf(tool));
    });
    definitions = new Map(defined.map((definition) => [definition.name, definition]));
    for (const changed of watchers) changed();
  };
  const take = (tools: readonly Tool[]): void => {
    listed = tools;
    define();
  };
  const connection = new McpConnection(server, take);
  take(await connection.tools());
  const named = (name: string): ToolDefinition | undefined => definitions.get(name);
  const provider: ToolProvider = {
    manifests: () => [...definitions.values()].map(manifestOf),
    resolveContract: (name) => {
      const definition = named(name);
      return definition && contractOf(definition);
    },
    execute: ({ tool, args, context }) => named(tool)?.execute(args as JsonObject, context),
    watch: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
  };
  return {
    provider,
    seen: () => Object.fromEntries(listed.map((tool) => [tool.name, hashOf(tool)])),
    accept: (name) => {
      const tool = listed.find((one) => one.name === name);
      if (tool !== undefined) seen.set(name, hashOf(tool));
      define();
    },
    refresh: async () => take(await connection.tools()),
    close: () => connection.close(),
  };
};
