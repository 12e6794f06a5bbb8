/**
 * Tells a scope which tools there are: those of the runtime, or its own. The catalog of a session with tools of its own is on
 * record, the functions are not: they are here once the program has given them in this process. Until then such a session
 * keeps its catalog, and its calls wait for their tools.
 */
import type { State, Tool } from "@pawl/sansio-core";
import { toolsUnder } from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import { type Access, record } from "../scope/access.ts";
import { CodeVersions } from "../tool/version.ts";
import type { HostSide } from "../host/host.ts";
import { Registry } from "../tool/registry.ts";
import type { ToolDefinition } from "../tool/definition.ts";
import type { SessionOptions } from "../host/about.ts";
import type { Session } from "./session.ts";

const hashOf = (tools: readonly Tool[]): string =>
  stableHash(tools.toSorted((a, b) => (a.id < b.id ? -1 : 1)) as unknown as Json);

/** Says whether the scope has other tools than these. Before its first catalog it always has. */
const isNews = ({ catalog: { byId } }: State, tools: readonly Tool[]): boolean =>
  byId.size !== tools.length || (tools.length > 0 && hashOf([...byId.values()]) !== hashOf(tools));

/** Returns the tools that calls wait for. One that an executor runs is back when an executor says so, for calls that run. */
const awaitedTools = ({ calls }: State, tools: readonly Tool[]): readonly string[] => {
  const rows = calls.rows();
  const toRun = new Set(rows.flatMap((row) => (row.phase === "no_executor" ? row.body.manifest.id : [])));
  const toLaunch = new Set(
    rows.flatMap((row) => (row.phase === "no_tool" && row.due !== undefined ? row.manifest.id : [])),
  );
  const isBack = ({ id, policy }: Tool): boolean => toLaunch.has(id) || (policy !== "client_side" && toRun.has(id));
  return tools.filter(isBack).map(({ id }) => id);
};

/** Publishes the tools where they are new to the scope, and lets calls go on whose tool is back. */
export const publish = async (access: Access, tools: readonly Tool[], versions: CodeVersions): Promise<void> => {
  const { runner } = access;
  const known = toolsUnder(runner.state.scope.protocol, tools);
  if (isNews(runner.state, known) || versions.areNewTo(runner.state))
    await record(access, { type: "catalog.published", tools: known, ...versions.toldTo(runner.state) });
  const back = awaitedTools(runner.state, known);
  if (back.length > 0) {
    const told = versions.ofTools(runner.state, back);
    await record(access, { type: "executors.available", tools: back, ...told });
  }
  await runner.whenDurable();
};

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
