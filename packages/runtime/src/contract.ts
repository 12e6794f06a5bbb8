/** What a tool says of a call before it runs: whether the arguments fit, and what it prepares. */
import type { Command, Event } from "@pawl/sansio-core";
import { stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type ToolDefinition, checkArgs } from "./tool.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;
type Tools = (id: string) => ToolDefinition | undefined;

export const checkedArgs = async (tools: Tools, { call, tool_id, args }: Of<"args.check">): Promise<Event> => {
  const tool = tools(tool_id);
  if (tool === undefined) return { type: "args.checked", call, verdict: { verdict: "no_contract" } };
  const checked = await checkArgs(tool, args);
  const args_hash = stableHash(args);
  if (E.isRight(checked)) return { type: "args.checked", call, args_hash, verdict: { verdict: "valid" } };
  return { type: "args.checked", call, args_hash, verdict: { verdict: "invalid", message: checked.left } };
};

export const preparedCall = async (tools: Tools, { call, tool_id, args }: Of<"tool.prepare">): Promise<Event> => {
  const tool = tools(tool_id);
  const checked = tool === undefined ? E.left("gone") : await checkArgs(tool, args);
  const payload = E.isRight(checked) ? ((await tool?.prepare?.(checked.right)) ?? null) : null;
  const args_hash = stableHash(args);
  return { type: "call.prepared", call, preparation: { type: "prepared", tool_id, args, args_hash, payload } };
};
