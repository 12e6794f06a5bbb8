/** Built-in tools by name. It runs what it is asked to run: policies, schemas and hints are others' business. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type RegistryReply, registryReply } from "@pawl/runtime";
import { type BuiltinTool, type ToolContext, argumentsOf, definitionOf } from "./tool.ts";

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
    return E.right(registryReply(id, await tool.execute(argumentsOf(args), context)));
  }
}
