/** Providers run the tools of a flow; an entry names its provider. A tool without a provider stays a placeholder. */
import { calculate } from "../native/calculator.ts";
import { answerDateTime } from "../native/date-time.ts";
import type { Registered, Registry } from "./registry.ts";
import { type Answer, type ToolResult, succeeded } from "./result.ts";

/** The context of one run. */
export interface Dispatching {
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export type Run = (argument: string, context: Dispatching) => Answer | Promise<Answer>;

/** Returns the function that runs a tool, or undefined if the provider does not know the tool. */
export type Provider = (entry: Registered) => Run | undefined;
export type Providers = { readonly [provider: string]: Provider };

const natives: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["Calculator", calculate],
  ["DateTimeTool", (query, { nowMs }) => answerDateTime(query, nowMs)],
]);

/** The providers without dependencies: `native` runs the tools of this package, `stub` echoes its argument. */
export const plainProviders: Providers = {
  native: ({ name }) => natives.get(name),
  stub:
    ({ name }) =>
    (argument) =>
      succeeded(`[stub] ${name}(${argument})`),
};

/** Looks up the function that runs a tool of a registry. */
export const runOf = (registry: Registry, providers: Providers, name: string): Run | undefined => {
  const entry = registry.at(name);
  if (entry === undefined || !Object.hasOwn(providers, entry.provider)) return undefined;
  return providers[entry.provider]?.(entry);
};

/** Runs a tool; resolves with undefined if no provider runs it. */
export const dispatch = async (
  registry: Registry,
  { providers, ...context }: Dispatching & { readonly providers: Providers },
  { tool, argument }: { readonly tool: string; readonly argument: string },
): Promise<ToolResult | undefined> => {
  const run = runOf(registry, providers, tool);
  if (run === undefined) return undefined;
  return { ...(await run(argument, context)), tool_name: tool };
};
