/** Reads flows, and the tools that files declare for them. */
import type { ProgramTools, ToolEntry } from "@pawl/flow";
import type { Program } from "@pawl/sansio-core/driver";
import { type Codec, array, describe, optional, parse, read, record, string } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { CliError, exit } from "../exit.ts";
import { loaded } from "../optional.ts";
import { textOfFile } from "../text-file.ts";

export interface ToolPlace {
  readonly allowed: readonly string[];
  /** Base address of tools whose declaration has only a path. */
  readonly base?: string | undefined;
}

const flows = "@pawl/flow";
const mcp = "@pawl/mcp";

/** Builds the tools of a flow. `http` and `mcp` tools may call local addresses only if `allowed` lists them. */
export const programToolsIn = async (
  file: string | undefined,
  { allowed, base = "" }: ToolPlace,
): Promise<ProgramTools> => {
  const { Registry, httpProvider, plainProviders, programTools } = await loaded(
    flows,
    "a flow",
    () => import("@pawl/flow"),
  );
  const { guardedFetch } = await loaded(flows, "a flow", () => import("@pawl/flow/node"));
  const entries = file === undefined ? [] : toolsIn(file);
  const fetch = guardedFetch({ allow: (address) => allowed.includes(address) });
  const providers = { ...plainProviders, http: httpProvider({ fetch }) };
  const registry = new Registry(entries).under(base);
  if (!entries.some(({ provider }) => provider === "mcp")) return programTools({ registry, providers });
  const { mcpProvider } = await loaded(mcp, "a tool of the provider mcp", () => import("@pawl/flow/mcp"));
  return programTools({ registry, providers: { ...providers, mcp: mcpProvider({ fetch }) } });
};

const wholeText = (file: string): string => [...textOfFile(file)].join("");

/** Reads the flow in a file. An error names the node and its path. */
export const flowIn = async (file: string): Promise<Program> => {
  const { readFlow } = await loaded(flows, "a flow", () => import("@pawl/flow"));
  const program = readFlow(wholeText(file));
  if (E.isRight(program)) return program.right;
  const { path, message } = program.left;
  throw new CliError("flow_invalid", `${file}: ${path}: ${message}`, { exit: exit.wrong });
};

const pair: Codec<readonly string[]> = array(string);

interface Declared extends Omit<ToolEntry, "parameters"> {
  readonly parameters?: readonly (readonly string[])[];
}

const Declared: Codec<Declared> = record<Declared>("a tool", {
  name: string,
  provider: string,
  timeout: optional(string),
  runtime: optional(string),
  output_schema: optional(string),
  effect_row: optional(array(string)),
  parameters: optional(array(pair)),
});

const invalid = (file: string, what: string): CliError =>
  new CliError("tools_invalid", `${file}: ${what}`, {
    exit: exit.wrong,
    hint: '[{"name":"Price","provider":"http","runtime":"https://…","parameters":[["item","String"]]}]',
  });

const entryOf = (file: string, { parameters = [], ...entry }: Declared, i: number): ToolEntry => {
  const pairs = parameters.map(([name, type, ...more], k) => {
    if (name === undefined || type === undefined || more.length > 0)
      throw invalid(
        file,
        `$[${i}].parameters[${k}]: expected a name and a type, found ${parameters[k]?.length} strings`,
      );
    return [name, type] as const;
  });
  return { ...entry, parameters: pairs };
};

/** Reads the tools that a file declares. */
export const toolsIn = (file: string): readonly ToolEntry[] => {
  const entries = pipe(
    parse(wholeText(file)),
    E.chain((json) => read(array(Declared), json)),
  );
  if (E.isLeft(entries)) throw invalid(file, describe(entries.left));
  return entries.right.map((entry, i) => entryOf(file, entry, i));
};
