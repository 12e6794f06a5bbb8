/** Who runs a tool: the provider that its entry names. A provider that nobody has leaves the tool to the model. */
import { calculate } from "../native/calculator.ts";
import { answerDateTime } from "../native/date-time.ts";
import type { Registered, Registry } from "./registry.ts";
import { type Answer, type ToolResult, succeeded } from "./result.ts";

/** What a provider may be told besides its tool and argument. */
export interface Dispatching {
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** Runs a tool with the text of its argument. */
export type Run = (argument: string, context: Dispatching) => Answer | Promise<Answer>;

/** What runs a tool, or nothing where its provider has nothing of its name. */
export type Provider = (entry: Registered) => Run | undefined;
export type Providers = { readonly [provider: string]: Provider };

const natives: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["Calculator", calculate],
  ["DateTimeTool", (query, { nowMs }) => answerDateTime(query, nowMs)],
]);

/** The providers that need nothing: code of this package, and one that shows what it was asked. */
export const plainProviders: Providers = {
  native: ({ name }) => natives.get(name),
  stub:
    ({ name }) =>
    (argument) =>
      succeeded(`[stub] ${name}(${argument})`),
};

/** What runs a tool of a registry, if anything does. */
export const runOf = (registry: Registry, providers: Providers, name: string): Run | undefined => {
  const entry = registry.at(name);
  if (entry === undefined || !Object.hasOwn(providers, entry.provider)) return undefined;
  return providers[entry.provider]?.(entry);
};

/** Runs a tool; without one who runs it there is no result, and its step shows what would have been asked. */
export const dispatch = async (
  registry: Registry,
  { providers, ...context }: Dispatching & { readonly providers: Providers },
  { tool, argument }: { readonly tool: string; readonly argument: string },
): Promise<ToolResult | undefined> => {
  const run = runOf(registry, providers, tool);
  if (run === undefined) return undefined;
  return { ...(await run(argument, context)), tool_name: tool };
};
