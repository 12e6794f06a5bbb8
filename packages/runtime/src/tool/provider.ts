/** Providers: sources of tools that come and go. A provider lists manifests and contracts, prepares calls and executes them. */
import type { Tool } from "@pawl/sansio-core";
import { ProviderReplayMeta } from "@pawl/sansio-core/driver";
import {
  type Codec,
  type Json,
  type ToolResult,
  describe,
  err,
  isToolResult,
  json,
  optional,
  read,
  record,
  string,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { JsonSchema } from "./argument.ts";
import { type Checker, checkerOf } from "./check.ts";
import type { LiveTool, PrepareContext, Prepared } from "./live-tool.ts";
import { ToolContract, ToolManifest } from "./manifest.ts";
import type { ToolContext } from "../body/facet/context.ts";
import type { ProgressMessage } from "../session/observe/observation.ts";
import { Refused } from "../error.ts";
import { admitName, admitSchema } from "./definition.ts";
import { coreTool } from "./tool.ts";

/** A call as a model requested it, to be prepared. */
export interface ProviderPrepare {
  readonly call: string;
  readonly tool: string;
  readonly toolId: string;
  readonly args: Json;
  /** Data that the model's provider wants back with the result. */
  readonly replay: ProviderReplayMeta | null;
  readonly context: PrepareContext;
}

/** Changes that a provider makes to a call; the rest stays as it was asked for. */
export interface ProviderPrepared {
  readonly toolId?: string;
  readonly args?: Json;
  /** The value that the body gets as `ctx.payload`. */
  readonly payload?: Json;
}

export interface ProviderCall {
  readonly tool: string;
  readonly args: Json;
  readonly context: ToolContext;
  readonly progress: (message: ProgressMessage) => void;
}

/** The functions below give the defaults of optional methods. */
export interface ToolProvider {
  readonly manifests: () => readonly ToolManifest[];
  readonly resolveManifest?: (name: string) => ToolManifest | undefined;
  readonly resolveManifestById?: (id: string) => ToolManifest | undefined;
  readonly resolveContract: (name: string) => ToolContract | undefined;
  readonly resolveContractById?: (id: string) => ToolContract | undefined;
  /** Returns the call to be journaled, or a result that ends it. */
  readonly prepare?: (call: ProviderPrepare) => Promise<ProviderPrepared | ToolResult> | ProviderPrepared | ToolResult;
  readonly execute: (call: ProviderCall) => unknown;
  readonly executeById?: (call: ProviderCall & { readonly toolId: string }) => unknown;
  /** Calls back whenever the list changes, until the returned function is called. */
  readonly watch?: (changed: () => void) => () => void;
}

/** Finds the manifest of a provider's tool by the tool's name. */
export const manifestByName = (provider: ToolProvider, name: string): ToolManifest | undefined =>
  provider.resolveManifest === undefined
    ? provider.manifests().find((manifest) => manifest.name === name)
    : provider.resolveManifest(name);

/** Finds the manifest of a provider's tool by the tool's id. */
export const manifestById = (provider: ToolProvider, id: string): ToolManifest | undefined =>
  provider.resolveManifestById === undefined
    ? provider.manifests().find((manifest) => manifest.id === id)
    : provider.resolveManifestById(id);

/** Finds the contract of a provider's tool by the tool's id. */
export const contractById = (provider: ToolProvider, id: string): ToolContract | undefined => {
  if (provider.resolveContractById !== undefined) return provider.resolveContractById(id);
  const manifest = manifestById(provider, id);
  return manifest === undefined ? undefined : provider.resolveContract(manifest.name);
};

/** Executes a tool by its id, under the name that the id has now. */
export const executeById = (provider: ToolProvider, id: string, call: Omit<ProviderCall, "tool">): unknown => {
  const manifest = manifestById(provider, id);
  if (manifest === undefined) return err(`Unknown tool id: ${id}`);
  const named = { ...call, tool: manifest.name };
  return provider.executeById === undefined ? provider.execute(named) : provider.executeById({ ...named, toolId: id });
};

/** Decodes an answer of a provider, which is input from outside. */
const decoded = <A>(codec: Codec<A>, answer: unknown, what: string): A => {
  const value = read(codec, answer);
  if (E.isRight(value)) return value.right;
  throw new Refused("invalid_tool", `${what} does not fit: ${describe(value.left)}`);
};

/** Reads the replay metadata of a call; metadata of another form counts as none. */
const replayOf = ({ replay = null }: PrepareContext): ProviderReplayMeta | null => {
  const meta = read(ProviderReplayMeta, replay);
  return E.isRight(meta) ? meta.right : null;
};

const ProviderPreparedCodec: Codec<ProviderPrepared> = record<ProviderPrepared>("a prepared call", {
  toolId: optional(string),
  args: optional(json),
  payload: optional(json),
});

const prepareWith = async (
  { prepare }: ToolProvider,
  { id, name }: Tool,
  args: Json,
  context: PrepareContext,
): Promise<Prepared | ToolResult> => {
  if (prepare === undefined) return { toolId: id, args, payload: null };
  const said = await prepare({
    call: context.toolCallId,
    tool: name,
    toolId: id,
    args,
    replay: replayOf(context),
    context,
  });
  if (isToolResult(said)) return said;
  const prepared = decoded(ProviderPreparedCodec, said, `what the provider of \`${name}\` prepared`);
  return { toolId: prepared.toolId ?? id, args: prepared.args ?? args, payload: prepared.payload ?? null };
};

/** Compiles a checker once for each schema that the provider returns. */
const contractChecker = (): ((contract: ToolContract) => Checker) => {
  let last: { readonly schema: Json; readonly checker: Checker } | undefined;
  return ({ input_schema: schema }) => {
    if (last?.schema !== schema) last = { schema, checker: checkerOf(schema as unknown as JsonSchema) };
    return last.checker;
  };
};

const toolOfProvider = (provider: ToolProvider, manifest: ToolManifest): LiveTool => {
  const { id, name } = manifest;
  const tool = coreTool(manifest, { checks: true, prepares: provider.prepare !== undefined });
  const checkerFor = contractChecker();
  const contract = (): ToolContract | undefined => {
    const said = contractById(provider, id);
    return said === undefined ? undefined : decoded(ToolContract, said, `the contract of \`${name}\``);
  };
  const schema = contract()?.input_schema;
  if (schema !== undefined) admitSchema(`the input schema of \`${name}\``, schema);
  return {
    tool,
    manifest,
    contract,
    source: () => `${provider.execute}${provider.executeById ?? ""}`,
    check: async (args) => {
      const now = contract();
      if (now === undefined) return { verdict: "no_contract" };
      const checked = await checkerFor(now)(args);
      return E.isRight(checked) ? { verdict: "valid" } : { verdict: "invalid", message: checked.left };
    },
    prepare: (args, context) => prepareWith(provider, tool, args, context),
    execute: async (args, context) => executeById(provider, id, { args, context, progress: context.progress }),
  };
};

const admitOnce = (what: "name" | "id", said: readonly string[]): void => {
  const again = said.findIndex((one, i) => said.indexOf(one) < i);
  if (again === -1) return;
  const places = `manifests ${said.indexOf(said[again] as string)} and ${again} of a provider`;
  throw new Refused("tool_conflict", `${places} have the ${what} \`${said[again]}\`: give one of them another`);
};

/** Reads the list of a provider. Throws `invalid_tool` or `tool_conflict` for a list that cannot be used. */
export const toolsOfProvider = (provider: ToolProvider): readonly LiveTool[] => {
  const manifests = provider.manifests().map((said, i) => decoded(ToolManifest, said, `manifest ${i} of a provider`));
  for (const [i, { name }] of manifests.entries()) admitName(`manifest ${i} of a provider`, name);
  for (const what of ["name", "id"] as const)
    admitOnce(
      what,
      manifests.map((manifest) => manifest[what]),
    );
  return manifests.map((manifest) => toolOfProvider(provider, manifest));
};
