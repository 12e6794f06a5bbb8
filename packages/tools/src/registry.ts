/** A registry of built-in tools by name. It runs tools without checks: policies, schemas and hints belong to the runtime. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type RegistryReply, registryReply } from "@pawl/runtime/driver";
import { edit } from "./file/edit.ts";
import { folderTools } from "./file/folder.ts";
import { read } from "./file/read.ts";
import { reportProgress, writeTodos } from "./progress.ts";
import { arithmetic, currentTime, echo, forecast, weather } from "./simple.ts";
import { type BuiltinTool, type ToolContext, argumentsOf, definitionOf } from "./tool.ts";
import { type WebFetchOptions, type WebPort, webFetch } from "./web.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/** Runs built-in tools by name, without a runtime. */
export class BuiltinRegistry {
  readonly #tools = new Map<string, BuiltinTool>();

  constructor(tools: readonly BuiltinTool[] = []) {
    for (const tool of tools) this.register(tool);
  }

  /** Adds a tool, and replaces the one that had its name. */
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

/** Returns the 18 tools that a session has by default. */
export const defaultTools = (web?: WebPort, options?: WebFetchOptions): readonly BuiltinTool[] => [
  currentTime,
  echo,
  reportProgress,
  ...arithmetic,
  weather,
  forecast,
  writeTodos,
  read,
  edit,
  ...folderTools,
  webFetch(web, options),
];

/** Makes a registry of the 18 tools that a session has by default. */
export const defaultRegistry = (web?: WebPort): BuiltinRegistry => new BuiltinRegistry(defaultTools(web));
