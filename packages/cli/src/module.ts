/** Loads modules that the command line names: tools, and scenarios. */
import type { ToolDefinition } from "@pawl/runtime";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError, exit } from "./exit.ts";

export interface Exports {
  readonly [name: string]: unknown;
}

/** Recognises an ES module in a package that is CommonJS, which `npm init` makes. */
const isCommonJsMismatch = (thrown: unknown): boolean =>
  thrown instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(thrown.message);

/** Imports a module by its path. */
export const loadModule = async (file: string): Promise<Exports> => {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Exports;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CliError("module_unreadable", `${file} cannot be loaded: ${why}`, {
      exit: exit.unreachable,
      ...(isCommonJsMismatch(thrown) && { hint: 'name it .mts or .mjs, or add "type": "module" to package.json' }),
    });
  }
};

/** Recognises a tool by its name and its body. */
export const isTool = (one: unknown): one is ToolDefinition =>
  typeof one === "object" &&
  one !== null &&
  "name" in one &&
  typeof one.name === "string" &&
  "execute" in one &&
  typeof one.execute === "function";

/** Returns the tools of a module: its export `tools`, or all exports that are tools. */
export const toolsIn = (file: string, exports: Exports): readonly ToolDefinition[] => {
  const { tools } = exports;
  const found = Array.isArray(tools) ? (tools as readonly unknown[]) : Object.values(exports).filter(isTool);
  const invalid = found.findIndex((one) => !isTool(one));
  if (invalid === -1 && found.length > 0) return found.filter(isTool);
  const what = found.length === 0 ? "exports no tools" : `exports no tool at tools[${invalid}]`;
  throw new CliError("no_tools", `${file} ${what}`, {
    exit: exit.usage,
    hint: "export const tools = [defineTool({ name, execute }), …]",
  });
};
