/** A tool as the interpreter runs it, from a definition or a provider: checked, prepared, executed. */
import type { Tool } from "@pawl/sansio-core";
import { type Json, type ToolResult, isToolResult } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { approvalOf, type CallPhase, type ToolDefinition } from "./definition.ts";
import { jsonOf } from "./argument.ts";
import { checkerOf, resultChecker } from "./check.ts";
import type { BackgroundSink } from "../process/run/report.ts";
import { type Line, lineOf } from "./limit.ts";
import type { ToolContract, ToolManifest } from "./manifest.ts";
import type { ToolContext } from "../body/facet/context.ts";
import { asksOf, contractOf, coreTool, wireManifestOf } from "./tool.ts";

/** A tool of a session's catalog, with what a model is told of it. */
export interface CatalogTool extends Tool {
  /** Empty where the tool is not here now, as its schemas are absent then. */
  readonly description: string;
  readonly inputSchema?: Json;
  readonly outputSchema?: Json;
}

/** Lets a preparation read, and do nothing else: no effects, no processes, no attachments, no cancellation. */
export interface PrepareContext {
  readonly session: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Returns the host's context of the turn with the input of its plugins; null outside of a turn. */
  readonly turn: () => Promise<Json>;
  /** Returns the session as its host sees it, to be read only. */
  readonly snapshot: () => Promise<Json>;
  /** Metadata that the model's provider wants back with the result. */
  readonly replay?: Json;
  /** The tools of the session, as they are now. */
  readonly catalog: readonly CatalogTool[];
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
  /** The tool's own rule found that this call needs no approval. */
  readonly approval?: "waived";
}

export interface LiveTool {
  readonly tool: Tool;
  readonly manifest: ToolManifest;
  readonly contract: () => ToolContract | undefined;
  /** Returns the text of the functions that run it. */
  readonly source: () => string;
  readonly check: (args: Json) => Promise<Verdict>;
  readonly prepare: (args: Json, context: PrepareContext) => Promise<Prepared | ToolResult>;
  readonly execute: (args: Json, context: ToolContext) => Promise<unknown>;
  /** Returns the line of a queue that a call stands in. Absent if the tool has no limit. */
  readonly line?: (args: Json) => Promise<Line>;
  /** Tells a person what a call is doing. Absent if the tool has no words of its own. */
  readonly narrate?: (args: Json, phase: CallPhase) => Promise<string>;
  /** Executes as a background run. Absent if the tool has no such body. */
  readonly background?: (args: Json, context: ToolContext, sink: BackgroundSink) => Promise<unknown>;
}

/** Thrown when arguments passed their check at admission and fail it now: the tool has changed since. */
class ArgumentsChanged extends TypeError {
  override readonly name = "ArgumentsChanged";
}

/** Requires the payload to be JSON, since it goes into the log. */
const preparedOf = (toolId: string, args: Json, returned: unknown): Prepared | ToolResult => {
  if (isToolResult(returned)) return returned;
  const payload = jsonOf(returned ?? null);
  if (E.isLeft(payload)) throw new TypeError(`the payload that \`${toolId}\` prepared: ${payload.left}`);
  return { toolId, args, payload: payload.right };
};

/** Asks a tool's own rule whether a person has to approve the call. Whatever is not `false` needs approval. */
const withApproval = async (definition: ToolDefinition, args: unknown, made: Prepared): Promise<Prepared> => {
  const { when } = approvalOf(definition);
  if (typeof when !== "function") return made;
  return (await when(args)) === false ? { ...made, approval: "waived" } : made;
};

/** Prepares a call: the tool's own preparation, and its word on the approval. */
const preparer =
  (definition: ToolDefinition, id: string, typed: Typed): LiveTool["prepare"] =>
  async (args, context) => {
    const decoded = await typed(args);
    const made = preparedOf(id, args, await definition.prepare?.(decoded, context));
    return isToolResult(made) ? made : withApproval(definition, decoded, made);
  };

type Typed = (args: Json) => Promise<unknown>;

/** Makes the bodies of a live tool, and its words. A result is checked where its tool has a schema for it. */
const bodiesOf = (
  { name, outputSchema, execute, background, narrate }: ToolDefinition,
  typed: Typed,
): Pick<LiveTool, "execute" | "background" | "narrate"> => {
  const check = outputSchema === undefined ? undefined : resultChecker(name, outputSchema);
  const runs: LiveTool["execute"] = async (args, context) => execute(await typed(args), context);
  return {
    execute: check === undefined ? runs : async (args, context) => check(await runs(args, context)),
    ...(background === undefined
      ? {}
      : {
          background: async (args, context, sink) => {
            const returned = await background(await typed(args), context, sink);
            return check === undefined ? returned : check(returned);
          },
        }),
    ...(narrate === undefined ? {} : { narrate: async (args, phase) => narrate(await typed(args), phase) }),
  };
};

/** Makes a live tool from a definition. */
export const liveTool = (definition: ToolDefinition): LiveTool => {
  const manifest = wireManifestOf(definition);
  const contract = contractOf(definition);
  const checker = checkerOf(definition.inputSchema);
  const typed: Typed = async (args) => {
    const checked = await checker(args);
    if (E.isLeft(checked)) throw new ArgumentsChanged(checked.left);
    return checked.right;
  };
  return {
    tool: coreTool(manifest, asksOf(definition)),
    manifest,
    contract: () => contract,
    source: () => `${definition.execute}${definition.background ?? ""}`,
    check: async (args) => {
      const checked = await checker(args);
      return E.isRight(checked) ? { verdict: "valid" } : { verdict: "invalid", message: checked.left };
    },
    prepare: preparer(definition, manifest.id, typed),
    ...(definition.limit === undefined ? {} : { line: async (args) => lineOf(definition, await typed(args)) }),
    ...bodiesOf(definition, typed),
  };
};
