/** A tool as the interpreter runs it, from a definition or a provider: checked, prepared, executed. */
import type { Tool } from "@pawl/sansio-core";
import { type Json, type ToolResult, isToolResult } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { jsonOf } from "./argument.ts";
import { checkerOf } from "./argument-check.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import type { ToolContract, ToolManifest } from "./manifest.ts";
import type { ToolContext } from "../body/facet/context.ts";
import { type ToolDefinition, contractOf, coreTool, wireManifestOf } from "./tool.ts";

/** Lets a preparation read, and do nothing else: no effects, no processes, no attachments, no cancellation. */
export interface PrepareContext {
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Returns the host's context of the turn with the input of its plugins; null outside of a turn. */
  readonly turn: () => Promise<Json>;
  /** Returns the session as its host sees it, to be read only. */
  readonly snapshot: () => Promise<Json>;
  /** Metadata that the model's provider wants back with the result. */
  readonly replay?: Json;
  readonly catalog: readonly Tool[];
}

export type Verdict =
  | { readonly verdict: "valid" }
  | { readonly verdict: "invalid"; readonly message: string }
  | { readonly verdict: "no_contract" };

/** The payload of a preparation, and the arguments, perhaps replaced. */
export interface Prepared {
  readonly toolId: string;
  readonly args: Json;
  readonly payload: Json;
}

export interface LiveTool {
  readonly tool: Tool;
  readonly manifest: ToolManifest;
  readonly contract: () => ToolContract | undefined;
  readonly check: (args: Json) => Promise<Verdict>;
  readonly prepare: (args: Json, context: PrepareContext) => Promise<Prepared | ToolResult>;
  readonly execute: (args: Json, context: ToolContext) => Promise<unknown>;
  /** Executes as a background run. Absent if the tool has no such body. */
  readonly background?: (args: Json, context: ToolContext, sink: BackgroundSink) => Promise<unknown>;
}

/** Thrown when arguments passed their check at admission and fail it now: the tool has changed since. */
export class ArgumentsChanged extends TypeError {
  override readonly name = "ArgumentsChanged";
}

/** Requires the payload to be JSON, since it goes into the log. */
const preparedOf = (toolId: string, args: Json, returned: unknown): Prepared | ToolResult => {
  if (isToolResult(returned)) return returned;
  const payload = jsonOf(returned ?? null);
  if (E.isLeft(payload)) throw new TypeError(`the payload that \`${toolId}\` prepared: ${payload.left}`);
  return { toolId, args, payload: payload.right };
};

const backgroundOf = (
  { background }: ToolDefinition,
  typed: (args: Json) => Promise<unknown>,
): Pick<LiveTool, "background"> =>
  background === undefined
    ? {}
    : { background: async (args, context, sink) => background(await typed(args), context, sink) };

/** Makes a live tool from a definition. */
export const liveTool = (definition: ToolDefinition): LiveTool => {
  const manifest = wireManifestOf(definition);
  const contract = contractOf(definition);
  const checker = checkerOf(definition.parameters);
  const asks = { checks: definition.parameters !== undefined, prepares: definition.prepare !== undefined };
  const typed = async (args: Json): Promise<unknown> => {
    const checked = await checker(args);
    if (E.isLeft(checked)) throw new ArgumentsChanged(checked.left);
    return checked.right;
  };
  return {
    tool: coreTool(manifest, asks),
    manifest,
    contract: () => contract,
    check: async (args) => {
      const checked = await checker(args);
      return E.isRight(checked) ? { verdict: "valid" } : { verdict: "invalid", message: checked.left };
    },
    prepare: async (args, context) =>
      preparedOf(manifest.id, args, await definition.prepare?.(await typed(args), context)),
    execute: async (args, context) => definition.execute(await typed(args), context),
    ...backgroundOf(definition, typed),
  };
};
