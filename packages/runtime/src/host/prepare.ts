/** Preparation of calls: before the launch the arguments are checked, and the tool prepares the call. Each gives an event. */
import type { CallRef, CommandOf, Event, State, Tool } from "@pawl/sansio-core";
import { hasRule } from "@pawl/sansio-core/driver";
import {
  type Json,
  type ToolCallOutput,
  type ToolResult,
  failureOutput,
  isToolResult,
  runtimeFailure,
  stableHash,
} from "@pawl/tool-value";
import { type Place, type ToolHost, placeOf, report } from "./host.ts";
import type { CatalogTool, LiveTool, PrepareContext, Prepared } from "../tool/live-tool.ts";
import { hidden, resultOfThrown } from "./outcome.ts";
import { roundTripped } from "../scope/access.ts";

export interface PreparePort {
  readonly host: ToolHost;
  readonly tool: (id: string) => LiveTool | undefined;
}

export const uncheckable = { verdict: "invalid", message: "arguments: they could not be checked" } as const;

/** A call in preparation waits while its tool is away. The check of arguments that a person edited does not. */
const mayWait = ({ scope, calls }: State, call: CallRef): boolean =>
  hasRule(scope.protocol, "absent_tool_waits") && calls.at(call)?.phase !== "awaiting_approval";

export const checkCall = async (port: PreparePort, state: State, command: CommandOf<"args.check">): Promise<Event> => {
  const { call, tool_id: toolId, args } = command;
  const args_hash = stableHash(args);
  const tool = port.tool(toolId);
  if (tool === undefined && mayWait(state, call)) return { type: "call.tool_missing", call };
  if (tool === undefined) return { type: "args.checked", call, args_hash, verdict: { verdict: "no_contract" } };
  try {
    return { type: "args.checked", call, args_hash, verdict: await tool.check(args) };
  } catch (thrown) {
    report(port.host, placeOf(state, call), thrown);
    return { type: "args.checked", call, args_hash, verdict: uncheckable };
  }
};

/** Describes a tool of the catalog. */
const described = (tool: Tool, live: LiveTool | undefined): CatalogTool => {
  const { input_schema: inputSchema, output_schema: outputSchema } = live?.contract() ?? {};
  return {
    ...tool,
    description: live?.manifest.description ?? "",
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
};

export const contextOf = ({ host, tool }: PreparePort, state: State, place: Place): PrepareContext => ({
  session: place.session,
  toolCallId: place.callId,
  toolName: place.tool,
  ...(place.replay === undefined ? {} : { replay: place.replay }),
  turn: async () => (await host.turn?.(place.scope, place.request)) ?? null,
  snapshot: async () => (await host.snapshot?.(place.scope)) ?? null,
  get catalog() {
    return state.catalog.byName.values().map((one) => described(one, tool(one.id)));
  },
});

const notFinal = failureOutput(
  runtimeFailure(
    "internal",
    "pending_tool_not_finalized",
    "pending tool result reached a completed-output projection path",
  ),
);
/** Reads the result of a preparation that ended its call, which must not be pending. */
export const outputOf = (result: ToolResult): ToolCallOutput => {
  const said = roundTripped(result);
  return said.type === "done" ? said.output : notFinal;
};

export const unavailable = failureOutput(
  runtimeFailure("unavailable", "tool_unavailable", "Tool is unavailable in this session"),
);

export const noContract = failureOutput(
  runtimeFailure("unavailable", "tool_contract_unavailable", "Tool contract is unavailable in this session"),
);

/** In a scope of protocol 1 no call is spared its approval: its catalog does not say that a tool may. */
const waivesIn = ({ calls }: State, call: CallRef): boolean => {
  const row = calls.at(call);
  return row !== undefined && "manifest" in row && row.manifest.waives_approval === true;
};

const prepared = async (
  port: PreparePort,
  state: State,
  place: Place,
  args: Json,
  toolId: string,
): Promise<Prepared | ToolCallOutput> => {
  const tool = port.tool(toolId);
  if (tool === undefined) return unavailable;
  try {
    const made = await tool.prepare(args, contextOf(port, state, place));
    return isToolResult(made) ? outputOf(made) : made;
  } catch (thrown) {
    const told = resultOfThrown(thrown);
    if (told === undefined) report(port.host, place, thrown);
    return outputOf(told ?? hidden);
  }
};

export const prepareCall = async (
  port: PreparePort,
  state: State,
  command: CommandOf<"tool.prepare">,
): Promise<Event> => {
  const { call, tool_id: toolId, args } = command;
  if (port.tool(toolId) === undefined && mayWait(state, call)) return { type: "call.tool_missing", call };
  const made = await prepared(port, state, placeOf(state, call), args, toolId);
  if ("outcome" in made) return { type: "call.prepared", call, preparation: { type: "finished", output: made } };
  const { payload, approval } = made;
  const args_hash = stableHash(made.args);
  const waiver = approval !== undefined && waivesIn(state, call) ? { approval } : {};
  const preparation = {
    type: "prepared",
    tool_id: made.toolId,
    args: made.args,
    args_hash,
    payload,
    ...waiver,
  } as const;
  return { type: "call.prepared", call, preparation };
};
