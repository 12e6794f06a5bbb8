/**
 * Sessions with tools of their own. The catalog is on record, the functions are not: they are here once the program has given
 * them in this process. Until then such a session keeps its catalog, and its calls wait for their tools.
 */
import type { Tool } from "@pawl/sansio-core";
import type { HostSide } from "../host/host.ts";
import { Registry } from "../tool/registry.ts";
import { CodeVersions } from "../tool/version.ts";
import type { ToolDefinition } from "../tool/definition.ts";
import type { SessionOptions } from "./about.ts";
import type { Session } from "./session.ts";

/** Tools, and the versions of their code. */
interface Given {
  readonly registry: Registry;
  readonly versions: CodeVersions;
}

type VersionsPort = Omit<ConstructorParameters<typeof CodeVersions>[0], "tools" | "tool">;

export class OwnTools {
  readonly #port: VersionsPort;
  readonly #byScope = new Map<string, Given>();
  /** In place of tools that are not here. */
  readonly #absent: Given;
  readonly #changed: (scope: string) => void;

  /** Calls `changed` after the tools of a scope have changed. */
  constructor(port: VersionsPort, changed: (scope: string) => void) {
    this.#port = port;
    this.#changed = changed;
    this.#absent = this.#givenOf(new Registry());
  }

  #givenOf(registry: Registry): Given {
    const tool: HostSide["tool"] = (id) => registry.live(id);
    return { registry, versions: new CodeVersions({ ...this.#port, tools: () => registry.lives, tool }) };
  }

  /** Gives a scope these tools. The same ones again change nothing. */
  give(scope: string, tools: NonNullable<SessionOptions["tools"]>): void {
    const known = this.#byScope.get(scope)?.registry;
    if (known === tools) return;
    if (known !== undefined && !(tools instanceof Registry)) return replaceTools(known, tools);
    const registry = tools instanceof Registry ? tools : new Registry(tools);
    this.#byScope.set(scope, this.#givenOf(registry));
    registry.watch(() => this.#changed(scope));
  }

  /**
   * Returns the tools that a session publishes, or a sub-agent; undefined where its own are not here. Any other process
   * keeps the tools of its environment.
   */
  catalogOf(session: Session, shared: Registry): readonly Tool[] | undefined {
    const { id } = session.runner;
    if (id.startsWith("process:")) return session.state.process?.run === "turn" ? shared.catalog() : undefined;
    const own = this.#byScope.get(id)?.registry;
    if (own !== undefined) return own.catalog();
    return session.state.about.ownTools ? undefined : shared.catalog();
  }

  /** Returns the host's side as a scope sees it: with its own tools, where it has some. */
  sideOf(scope: string, side: HostSide, hasOwn: () => boolean): HostSide {
    const given = (): Given | undefined => this.#byScope.get(scope) ?? (hasOwn() ? this.#absent : undefined);
    return {
      ...side,
      tool: (id) => {
        const own = given();
        return own === undefined ? side.tool(id) : own.registry.live(id);
      },
      get versions() {
        return given()?.versions ?? side.versions;
      },
    };
  }
}

/** Puts tools in the place of all that a registry has. A list that does not fit changes nothing. */
export const replaceTools = (registry: Registry, tools: readonly ToolDefinition[]): void => {
  const wanted = new Registry(tools);
  for (const name of registry.names()) if (!wanted.has(name)) registry.unregister(name);
  for (const tool of tools) if (registry.get(tool.name) !== tool) registry.register(tool);
};
