/**
 * The tools of a runtime: registered ones by name, and those that providers list. A later tool replaces an earlier one of
 * the same name. Watchers are notified of every change; `ToolNews` publishes changes to open scopes.
 */
import type { Tool } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import type { ToolContract, ToolManifest } from "./manifest.ts";
import { Refused, ScopeLost, shownOf } from "../error.ts";
import { type LiveTool, liveTool } from "./live-tool.ts";
import { type ToolProvider, toolsOfProvider } from "./provider.ts";
import { admittedDefinition, type CallPhase, type ToolDefinition } from "./definition.ts";
import type { Platform } from "../platform.ts";
import type { Session } from "../session/session.ts";

interface Registered {
  readonly definition: ToolDefinition;
  readonly live: LiveTool;
}

const noList = (found: unknown): Refused =>
  new Refused("invalid_tool", `tools are expected to be a list or a Registry, found ${shownOf(found)}`);

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

  /** Refuses a list with two tools of one name: only `register` replaces a tool. */
  constructor(definitions: readonly ToolDefinition[] = []) {
    if (!Array.isArray(definitions)) throw noList(definitions);
    for (const definition of definitions) {
      const { name } = admittedDefinition(definition);
      if (this.has(name)) throw twice(name);
      this.register(definition);
    }
  }

  /** Adds a tool, or replaces the one of its name. Throws if its id is another tool's. */
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

  /** Removes a tool, and returns it. */
  unregister(name: string): ToolDefinition | undefined {
    const registered = this.#registered.get(name);
    if (this.#registered.delete(name)) this.#changed();
    return registered?.definition;
  }

  clear(): void {
    this.#registered.clear();
    this.#changed();
  }

  /** Adds a provider's tools; the returned function removes them. */
  provide(provider: ToolProvider): () => void {
    this.#provided.set(provider, this.#toolsOf(provider));
    const unwatch = provider.watch?.(() => this.refresh(provider));
    this.#changed();
    return () => {
      unwatch?.();
      if (this.#provided.delete(provider)) this.#changed();
    };
  }

  /** Reads a provider's list again. Throws if the list is invalid, and keeps the tools as they were. */
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
  /** Returns an independent registry with the same registered tools. */
  copy(): Registry {
    return new Registry(this.definitions());
  }

  /** Finds a tool by id, registered or provided. */
  live(id: string): LiveTool | undefined {
    return this.#byId.get(id);
  }
  /** Finds a tool by name, registered or provided. */
  named(name: string): LiveTool | undefined {
    return [...this.#byId.values()].find(({ tool }) => tool.name === name);
  }
  /** Lists every tool, registered or provided. */
  get lives(): Iterable<LiveTool> {
    return this.#byId.values();
  }
  /** Lists every tool for publication in a scope, including tools that may not be called. */
  catalog(): readonly Tool[] {
    return [...this.#byId.values()].map(({ tool }) => tool);
  }
  /** Lists the tools that models see: activated, callable, and with a contract. */
  shown(): readonly (ToolManifest & ToolContract)[] {
    return [...this.#byId.values()].flatMap(({ manifest, tool, contract }) => {
      const isCallable = tool.availability === "callable" || tool.availability === "showcased";
      const isShown = manifest.activation === "always" && isCallable;
      const shown = isShown ? contract() : undefined;
      return shown === undefined ? [] : [{ ...manifest, ...shown }];
    });
  }

  /** Tells a person in one line what a call is doing, in the words of its tool, or else by the tool's title. */
  async narrate(name: string, args: Json, phase: CallPhase): Promise<string> {
    const tool = this.named(name);
    return (await tool?.narrate?.(args, phase)) ?? `${tool?.manifest.display_name ?? name}: ${phase}`;
  }

  /** Calls back after every change, until the returned function is called. */
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

/** Ignores a lost scope: it gets the tools when it is opened again. */
const lostWithItsScope = (thrown: unknown): void => {
  if (!(thrown instanceof ScopeLost)) throw thrown;
};

type Openings = () => Iterable<Promise<Session> | undefined>;

/** Publishes changes of tools to the open scopes that have them, once for all changes of a turn. */
export class ToolNews {
  readonly #platform: Platform;
  readonly #open: ReadonlyMap<string, Promise<Session>>;
  readonly #catalogOf: (session: Session) => readonly Tool[] | undefined;
  #scheduled: Openings[] = [];

  constructor(
    platform: Platform,
    open: ReadonlyMap<string, Promise<Session>>,
    catalogOf: (session: Session) => readonly Tool[] | undefined,
  ) {
    this.#platform = platform;
    this.#open = open;
    this.#catalogOf = catalogOf;
  }

  /** Tells all open scopes of the changes of a registry. */
  watch(registry: Registry): void {
    const all: Openings = () => this.#open.values();
    registry.watch(() => this.changed(all));
  }

  /** Tells some scopes that their tools have changed. */
  changed(openings: Openings): void {
    if (this.#scheduled.includes(openings)) return;
    if (this.#scheduled.push(openings) > 1) return;
    this.#platform.nextTurn(() => {
      const told = new Set(this.#scheduled.splice(0).flatMap((some) => [...some()]));
      for (const opening of told) opening?.then((session) => this.tell(session)).catch(lostWithItsScope);
    });
  }

  /** Publishes its catalog to a session. */
  async tell(session: Session): Promise<void> {
    const catalog = this.#catalogOf(session);
    if (catalog !== undefined) await session.publish(catalog);
  }
}
