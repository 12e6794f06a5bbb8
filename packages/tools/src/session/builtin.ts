/** Built-in tools as a runtime runs them. */
import {
  type ExecutionResult,
  type JsonSchema,
  type ToolContext,
  type ToolDefinition,
  defineTool,
  toolError,
} from "@pawl/runtime";
import { instantText } from "@pawl/sansio-core";
import type { Json, JsonObject } from "@pawl/tool-value";
import type { FileStore } from "../file/store.ts";
import { type BuiltinTool, argumentsOf } from "../tool.ts";

/** The files of each session, where the host keeps any. */
export type FilesOf = (session: string) => FileStore;

export const sessionPrefix = "session:";

/** Of a session's own scope its id; a process works for the session that its name does not say. */
export const isSession = (scope: string): boolean => scope.startsWith(sessionPrefix);

/** What an author of tools says besides its body. */
export const described = (
  tool: Omit<BuiltinTool, "execute">,
): Omit<ToolDefinition, "execute" | "parameters"> & { readonly parameters: JsonSchema } => {
  const { name, displayName, description, parameters, policy, hints, deferrable } = tool;
  return {
    name,
    description,
    parameters,
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(policy === undefined ? {} : { policy }),
    ...(hints === undefined ? {} : { hints }),
    ...(deferrable === undefined ? {} : { deferrable }),
  };
};

export const builtinTool = (tool: BuiltinTool, files: FilesOf | undefined, now: () => number): ToolDefinition =>
  defineTool({
    ...described(tool),
    execute: (args, ctx) => {
      const place = { session_id: ctx.session, now };
      const context = files === undefined ? place : { ...place, files: files(ctx.session) };
      return tool.execute(argumentsOf(args as never), context);
    },
  });

/** What a tool of a session does: with arguments that nobody checked, and its place. */
export type SessionBody = (args: JsonObject, ctx: ToolContext) => Promise<ExecutionResult>;

/** A tool for what sessions keep; in a process it says that this is not there. */
export const sessionTool = (tool: Omit<BuiltinTool, "execute">, body: SessionBody, notHere: string): ToolDefinition =>
  defineTool({
    ...described(tool),
    durable: true,
    execute: async (args, ctx) =>
      isSession(ctx.sessionId) ? body(argumentsOf(args as Json), ctx) : toolError(notHere),
  });

/** Those of its times that a record has, as instants. */
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
