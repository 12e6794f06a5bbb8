/** The tools of flows: those that a file declares, and those that every flow has. */
import { type ProgramTools, Registry, httpProvider, plainProviders, programTools } from "@pawl/flow";
import { mcpProvider } from "@pawl/flow/mcp";
import { guardedFetch } from "@pawl/flow/node";
import { toolsIn } from "./file.ts";

export interface ToolPlace {
  readonly allowed: readonly string[];
  /** Under which tools stand whose declaration does not say the whole of their address. */
  readonly base?: string | undefined;
}

/** Tools of the providers http and mcp ask no address of this machine or network, but those that are allowed. */
export const programToolsIn = (file: string | undefined, { allowed, base = "" }: ToolPlace): ProgramTools => {
  const fetch = guardedFetch({ allow: (address) => allowed.includes(address) });
  const providers = { ...plainProviders, http: httpProvider({ fetch }), mcp: mcpProvider({ fetch }) };
  const registry = new Registry(file === undefined ? [] : toolsIn(file)).under(base);
  return programTools({ registry, providers });
};
