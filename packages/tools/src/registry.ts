/** Built-in tools by name. It runs what it is asked to run: policies, schemas and hints are others' business. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type RegistryReply, registryReply } from "@pawl/runtime";
import { type BuiltinTool, type ToolContext, argumentsOf, definitionOf, needsContext } from "./tool.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

export class BuiltinRegistry {
  readonly #tools = new Map<string, BuiltinTool>();

  constructor(tools: readonly BuiltinTool[] = []) {
    for (const tool of tools) this.register(tool);
  }

  /** Takes a tool in, in the place of one with its name. */
  register(tool: BuiltinTool): this {
    this.#tools.set(tool.name, tool);
    return this;
  }
  unregister(name: string): BuiltinTool | undefined {
    const tool = this.#tools.get(name);
    this.#tools.delete(name);
    return tool;
  }
  clear(): void {
    this.#tools.clear();
  }
  get(name: string): BuiltinTool | undefined {
    return this.#tools.get(name);
  }
  has(name: string): boolean {
    return this.#tools.has(name);
  }
  get size(): number {
    return this.#tools.size;
  }
  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }
  definitions(): readonly JsonObject[] {
    return [...this.#tools.values()].map(definitionOf);
  }
  /** Another registry with the same tools. */
  copy(): BuiltinRegistry {
    return new BuiltinRegistry([...this.#tools.values()]);
  }

  async execute(
    { id, name, arguments: args }: ToolCall,
    context?: ToolContext,
  ): Promise<E.Either<string, RegistryReply>> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return E.left(`Tool execution error: Tool not found: ${name}`);
    const isAlone = tool.requiresContext === true && context === undefined;
    const result = isAlone ? needsContext(name) : await tool.execute(argumentsOf(args), context);
    return E.right(registryReply(id, result));
  }
}

interface Activation {
  readonly executable: readonly string[];
  readonly definitions: readonly string[];
}

/** A session with a tool that can run in the background can ask for it; asked for twice it is there once. */
export const activate = (
  tools: readonly { readonly name: string; readonly hints?: { readonly supports_background?: boolean } }[],
  explicit: readonly string[],
  spawn: string,
): Activation => {
  const isNeeded =
    explicit.includes("background_execution") || tools.some(({ hints }) => hints?.supports_background === true);
  const names = tools.map(({ name }) => name);
  const all = isNeeded && !names.includes(spawn) ? [...names, spawn] : names;
  return { executable: all, definitions: all };
};
