/** The flows that a host's configuration mounts, and their tools. */
import type { ServedFlow } from "@pawl/flow";
import type { ToolDefinition } from "@pawl/runtime";
import { flowToolOf } from "@pawl/runtime/driver";
import { HostFlows } from "@pawl/driver-node";
import { CliError, exit } from "../exit.ts";
import { flowIn, programToolsIn } from "../flow/file.ts";
import type { FlowConfig, HostConfig } from "./config.ts";

export interface Mounted {
  readonly flows?: HostFlows;
  readonly tools: readonly ToolDefinition[];
}

const namesInPath = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);

const configError = (message: string): CliError => new CliError("invalid_config", message, { exit: exit.usage });

const refuseInvalidFlows = (flows: readonly FlowConfig[]): void => {
  const names = new Set<string>();
  for (const { name, path = "", parameters = [] } of flows) {
    if (name === "" || name.includes("/"))
      throw configError(`a flow's name must be one path segment, found \`${name}\``);
    if (names.has(name)) throw configError(`two flows have the name ${name}`);
    names.add(name);
    const unknown = namesInPath(path).find((one) => !parameters.includes(one));
    if (unknown !== undefined) throw configError(`flow ${name}: {${unknown}} in its path is not one of its parameters`);
  }
};

/** Merges the flows' tools with the module's, which win where names are the same. */
export const mountedBy = async (config: HostConfig, own: readonly ToolDefinition[]): Promise<Mounted> => {
  const { flows = [], flow_tools: file, flow_base: base, flow_allow: allowed = [] } = config;
  if (flows.length === 0) return { tools: own };
  const shared = await programToolsIn(file, { allowed, base });
  refuseInvalidFlows(flows);
  const taken = new Set(own.map(({ name }) => name));
  const tools = [...own.map(flowToolOf), ...shared.tools.filter(({ name }) => !taken.has(name))];
  const served = await Promise.all(
    flows.map(async ({ name, file: program, ...flow }): Promise<readonly [string, ServedFlow]> => [
      name,
      { ...flow, program: await flowIn(program), tools },
    ]),
  );
  return {
    flows: new HostFlows({ flows: Object.fromEntries(served) }),
    tools: [...own, ...shared.definitions.filter(({ name }) => !taken.has(name))],
  };
};
