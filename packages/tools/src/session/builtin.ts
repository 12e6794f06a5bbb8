/** Built-in tools as a runtime runs them. */
import { type ToolDefinition, defineTool } from "@pawl/runtime";
import type { JsonSchema } from "@pawl/runtime";
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
