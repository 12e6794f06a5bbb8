/** The flows that a host's configuration mounts, and what they need beside the tools of its module. */
import type { ServedFlow } from "@pawl/flow";
import { type ToolDefinition, flowToolOf } from "@pawl/runtime";
import { HostFlows } from "../../host/flow-host.ts";
import { CliError, exit } from "../exit.ts";
import { flowIn } from "../flow/file.ts";
import { programToolsIn } from "../flow/tool.ts";
import type { FlowConfig, HostConfig } from "./config.ts";

export interface Mounted {
  readonly flows?: HostFlows;
  readonly tools: readonly ToolDefinition[];
}

const namesInPath = (path: string): readonly string[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);

const misfit = (message: string): CliError => new CliError("invalid_config", message, { exit: exit.usage });

const refuseMisfit = (flows: readonly FlowConfig[]): void => {
  const names = new Set<string>();
  for (const { name, path = "", parameters = [] } of flows) {
    if (name === "" || name.includes("/")) throw misfit(`a flow's name is one piece of a path, found \`${name}\``);
    if (names.has(name)) throw misfit(`two flows have the name ${name}`);
    names.add(name);
    const stray = namesInPath(path).find((one) => !parameters.includes(one));
    if (stray !== undefined) throw misfit(`flow ${name}: {${stray}} in its path is none of its parameters`);
  }
};

/** Tools of the module win over those of flows with the same name. */
export const mountedBy = (config: HostConfig, own: readonly ToolDefinition[]): Mounted => {
  const { flows = [], flow_tools: file, flow_base: base, flow_allow: allowed = [] } = config;
  if (flows.length === 0) return { tools: own };
  const shared = programToolsIn(file, { allowed, base });
  refuseMisfit(flows);
  const taken = new Set(own.map(({ name }) => name));
  const tools = [...own.map(flowToolOf), ...shared.tools.filter(({ name }) => !taken.has(name))];
  const served = flows.map(({ name, file: program, ...flow }): readonly [string, ServedFlow] => [
    name,
    { ...flow, program: flowIn(program), tools },
  ]);
  return {
    flows: new HostFlows({ flows: Object.fromEntries(served) }),
    tools: [...own, ...shared.definitions.filter(({ name }) => !taken.has(name))],
  };
};
