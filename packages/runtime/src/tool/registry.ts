/**
 * The tools of a runtime: those that were registered, by name, and those that providers list. A later one takes the
 * place of an earlier one with its name. Whoever watches is told of every change.
 */
import type { Tool } from "@pawl/sansio-core";
import type { ToolContract, ToolManifest } from "./manifest.ts";
import { Refused } from "../error.ts";
import { type LiveTool, liveTool } from "./live-tool.ts";
import { type ToolProvider, toolsOfProvider } from "./provider.ts";
import { type ToolDefinition, admittedDefinition } from "./tool.ts";

interface Registered {
  readonly definition: ToolDefinition;
  readonly live: LiveTool;
}

const noList = (found: unknown): Refused =>
  new Refused("invalid_tool", `tools are expected to be a list or a Registry, found ${String(found)}`);

const twice = (name: string): Refused => {
  const advice = "leave one out, or `register` the one that is to take the other's place";
  return new Refused("tool_conflict", `a list of tools has two tools \`${name}\`: ${advice}`);
};

/** Holds the tools of a runtime, those of its providers included. */
export class Registry {
  readonly #registered = new Map<string, Registered>();
  readonly #provided = new Map<ToolProvider, readonly LiveTool[]>();
  readonly #watchers = new Set<() => void>();
  #byId: ReadonlyMap<string, LiveTool> = new Map();

  /** In one list each name stands once: only `register` puts a tool in another's place. */
  constructor(definitions: readonly ToolDefinition[] = []) {
    if (!Array.isArray(definitions)) throw noList(definitions);
    for (const definition of definitions) {
      const { name } = admittedDefinition(definition);
      if (this.has(name)) throw twice(name);
      this.register(definition);
    }
  }

  /** Takes a tool in, in the place of one with its name. Its id may not be another tool's. */
  register(definition: ToolDefinition): this {
    const live = liveTool(definition);
    this.#admitId(live, [...this.#provided.values()].flat());
    this.#registered.set(live.tool.name, { definition, live });
    return this.#changed();
  }

  #admitId({ tool: { id, name } }: LiveTool, others: readonly LiveTool[]): void {
    const registered = [...this.#registered.values()].map(({ live }) => live);
    const other = [...registered, ...others].find(({ tool }) => tool.id === id && tool.name !== name);
    if (other === undefined) return;
    const message = `tools \`${other.tool.name}\` and \`${name}\` have the id \`${id}\`: give one of them another`;
    throw new Refused("tool_conflict", message);
  }

  #toolsOf(provider: ToolProvider): readonly LiveTool[] {
    const tools = toolsOfProvider(provider);
    const others = [...this.#provided].flatMap(([other, theirs]) => (other === provider ? [] : theirs));
    for (const tool of tools) this.#admitId(tool, others);
    return tools;
  }

  /** Takes a tool out, and gives it back. */
  unregister(name: string): ToolDefinition | undefined {
    const registered = this.#registered.get(name);
    if (this.#registered.delete(name)) this.#changed();
    return registered?.definition;
  }

  clear(): void {
    this.#registered.clear();
    this.#changed();
  }

  /** Takes a provider's tools in, for as long as it is not withdrawn by what this gives back. */
  provide(provider: ToolProvider): () => void {
    this.#provided.set(provider, this.#toolsOf(provider));
    const unwatch = provider.watch?.(() => this.refresh(provider));
    this.#changed();
    return () => {
      unwatch?.();
      if (this.#provided.delete(provider)) this.#changed();
    };
  }

  /** Reads a provider's list again; one that does not fit is refused, and the tools stay as they were. */
  refresh(provider: ToolProvider): void {
    if (!this.#provided.has(provider)) return;
    this.#provided.set(provider, this.#toolsOf(provider));
    this.#changed();
  }

  get(name: string): ToolDefinition | undefined {
    return this.#registered.get(name)?.definition;
  }
  has(name: string): boolean {
    return this.#registered.has(name);
  }
  get size(): number {
    return this.#registered.size;
  }
  get isEmpty(): boolean {
    return this.#registered.size === 0;
  }
  names(): readonly string[] {
    return [...this.#registered.keys()];
  }
  definitions(): readonly ToolDefinition[] {
    return [...this.#registered.values()].map(({ definition }) => definition);
  }
  /** Another registry with the same tools; what is done to one is not done to the other. */
  copy(): Registry {
    return new Registry(this.definitions());
  }

  /** The tool of this id, wherever it comes from. */
  live(id: string): LiveTool | undefined {
    return this.#byId.get(id);
  }
  /** The tool of this name, wherever it comes from. */
  named(name: string): LiveTool | undefined {
    return [...this.#byId.values()].find(({ tool }) => tool.name === name);
  }
  /** What is published in a scope: every tool, also those that may not be called. */
  catalog(): readonly Tool[] {
    return [...this.#byId.values()].map(({ tool }) => tool);
  }
  /** What models are shown: tools that are activated, at least callable, with their contracts. */
  shown(): readonly (ToolManifest & ToolContract)[] {
    return [...this.#byId.values()].flatMap(({ manifest, tool, contract }) => {
      const isCallable = tool.availability === "callable" || tool.availability === "showcased";
      const isShown = manifest.activation === "always" && isCallable;
      const said = isShown ? contract() : undefined;
      return said === undefined ? [] : [{ ...manifest, ...said }];
    });
  }

  /** Tells of every change from now on; what this gives back ends the telling. */
  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  #changed(): this {
    const byName = new Map<string, LiveTool>();
    const listed = [...this.#registered.values()].map(({ live }) => live);
    for (const live of [...listed, ...[...this.#provided.values()].flat()]) {
      byName.delete(live.tool.name);
      byName.set(live.tool.name, live);
    }
    this.#byId = new Map([...byName.values()].map((live) => [live.tool.id, live]));
    for (const watcher of this.#watchers) watcher();
    return this;
  }
}
