/** An adapter from built-in tools to tool definitions of the runtime. */
import {
  type ExecutionResult,
  type JsonSchema,
  type ToolContext,
  type ToolDefinition,
  defineTool,
  toolError,
} from "@pawl/runtime";
import { instantText } from "@pawl/sansio-core/driver";
import type { Json, JsonObject } from "@pawl/tool-value";
import type { FileStore } from "../file/store.ts";
import { type BuiltinTool, argumentsOf } from "../tool.ts";

/** Returns the files of a session. */
export type FilesOf = (session: string) => FileStore;

export const sessionPrefix = "session:";

/** Returns true for the scope of a session. A process works for a session too, but its name does not tell which. */
export const isSession = (scope: string): boolean => scope.startsWith(sessionPrefix);

/** Returns the definition of a tool without its body. */
export const described = (
  tool: Omit<BuiltinTool, "execute">,
): Omit<ToolDefinition, "execute" | "inputSchema"> & { readonly inputSchema: JsonSchema } => {
  const { name, displayName, description, parameters, policy, hints, deferrable } = tool;
  return {
    name,
    description,
    inputSchema: parameters,
    ...(displayName === undefined ? {} : { title: displayName }),
    needsApproval: policy === "requires_approval",
    clientSide: policy === "client_side",
    manifest: { ...(hints === undefined ? {} : { hints }), ...(deferrable === undefined ? {} : { deferrable }) },
  };
};

/** Makes a runtime's tool of a built-in tool. */
export const builtinTool = (tool: BuiltinTool, files: FilesOf | undefined, now: () => number): ToolDefinition =>
  defineTool({
    ...described(tool),
    execute: (args, ctx) => {
      const place = { session_id: ctx.session, now };
      const context = files === undefined ? place : { ...place, files: files(ctx.session) };
      return tool.execute(argumentsOf(args as never), context);
    },
  });

/** The body of a session tool. Nobody has checked its arguments. */
export type SessionBody = (args: JsonObject, ctx: ToolContext) => Promise<ExecutionResult>;

/** Defines a tool that works on the state of its session. In a process it fails with `notHere`. */
export const sessionTool = (tool: Omit<BuiltinTool, "execute">, body: SessionBody, notHere: string): ToolDefinition =>
  defineTool({
    ...described(tool),
    durable: true,
    execute: async (args, ctx) => (isSession(ctx.scope) ? body(argumentsOf(args as Json), ctx) : toolError(notHere)),
  });

/** Writes the given times of a record as RFC 3339 texts. */
export const instantsOf = <K extends string>(
  record: { readonly [time in K]?: number },
  times: readonly K[],
): JsonObject =>
  Object.fromEntries(
    times.flatMap((time) => {
      const at: number | undefined = record[time];
      return at === undefined ? [] : [[time, instantText(at)]];
    }),
  );
