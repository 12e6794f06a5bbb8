/** Modules that the command line is handed: tools, and the configuration of a host. */
import type { ToolDefinition } from "@pawl/runtime";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError, exit } from "./exit.ts";

interface Exports {
  readonly [name: string]: unknown;
}

/** A module with `import` in it, in a package of CommonJS, as `npm init` makes one. */
const isOfOtherKind = (thrown: unknown): boolean =>
  thrown instanceof SyntaxError && /outside a module|Unexpected token 'export'/.test(thrown.message);

/** Loads a module; whatever it does while it is loaded is its own doing. */
export const loadModule = async (file: string): Promise<Exports> => {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Exports;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new CliError("module_unreadable", `${file} can not be loaded: ${why}`, {
      exit: exit.unreachable,
      ...(isOfOtherKind(thrown) && { hint: 'call it .mts or .mjs, or write "type": "module" into package.json' }),
    });
  }
};

const isTool = (one: unknown): one is ToolDefinition =>
  typeof one === "object" &&
  one !== null &&
  "name" in one &&
  typeof one.name === "string" &&
  "execute" in one &&
  typeof one.execute === "function";

/** The tools of a module: what it exports as `tools`, or every export that is one. */
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
