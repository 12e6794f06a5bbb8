/**
 * Versions of the code that runs tools. A tool's version is the one of its definition, else that of the host's code. With
 * neither it is made of the text of its function and of the start of this runtime, since the text does not tell what it
 * calls; a function that is registered in its place is another version too.
 */
import type { State } from "@pawl/sansio-core";
import {
  type CallRow,
  type Versions,
  bodyOf,
  hasFailed,
  hasRule,
  unnamedVersion,
  versionIn,
} from "@pawl/sansio-core/driver";
import type { Platform } from "../platform.ts";
import type { LiveTool } from "./live-tool.ts";

interface CodePort {
  /** The version of the host's code, if it says one. */
  readonly codeVersion?: string | undefined;
  /** The name of this runtime in the log. */
  readonly instance: string;
  readonly platform: Platform;
  readonly tools: () => Iterable<LiveTool>;
  readonly tool: (id: string) => LiveTool | undefined;
}

const hashLength = 12;

export class CodeVersions {
  readonly #port: CodePort;
  /** Tells this start of the runtime from every other. */
  readonly #start: string;
  readonly #unnamed = new WeakMap<LiveTool, string>();
  /** How many functions were registered under an id. */
  readonly #counts = new Map<string, number>();

  constructor(port: CodePort) {
    this.#port = port;
    this.#start = `${port.instance}/${port.platform.now().toString(36)}`;
  }

  /** Returns the version of a tool, if this runtime has the tool. */
  of(toolId: string): string | undefined {
    const tool = this.#port.tool(toolId);
    return tool && (tool.manifest.version ?? this.#port.codeVersion ?? this.#unnamedOf(tool));
  }

  #unnamedOf(tool: LiveTool): string {
    const known = this.#unnamed.get(tool);
    if (known !== undefined) return known;
    const { id } = tool.tool;
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    const hash = this.#port.platform.hashText(tool.source()).slice(0, hashLength);
    const version = unnamedVersion(hash, count === 1 ? this.#start : `${this.#start}.${count}`);
    this.#unnamed.set(tool, version);
    return version;
  }

  /** Lists the versions there are: of tools that name their own, and of all others. */
  get #named(): Versions {
    const named: { [tool: string]: string } = { "*": this.#port.codeVersion ?? unnamedVersion("", this.#start) };
    for (const { tool, manifest } of this.#port.tools())
      if (manifest.version !== undefined) named[tool.id] = manifest.version;
    return named;
  }

  /** Returns what a scope is told when it is opened, or given tools. Tools of its live bodies are named one by one. */
  toldTo({ calls, scope }: State, protocol = scope.protocol): { readonly versions?: Versions } {
    if (!hasRule(protocol, "parked_divergence")) return {};
    const ids = calls.rows().flatMap((row) => bodyOf(row)?.manifest.id ?? []);
    const live = Object.fromEntries(ids.map((id) => [id, this.of(id) ?? null]));
    const named = this.#named;
    const own = Object.entries(live).filter(([id, version]) => version !== versionIn(named, id));
    return { versions: { ...named, ...Object.fromEntries(own) } };
  }

  /** Returns the versions of some tools, as an event that brings them back says them. */
  ofTools({ scope }: State, ids: readonly string[]): { readonly versions?: Versions } {
    if (!hasRule(scope.protocol, "parked_divergence")) return {};
    return { versions: Object.fromEntries(ids.map((id) => [id, this.of(id) ?? null])) };
  }

  /** Returns the version that goes with a run of a tool, as its events say it. */
  ofRun({ scope }: State, toolId: string): { readonly version?: string } {
    const version = hasRule(scope.protocol, "parked_divergence") ? this.of(toolId) : undefined;
    return version === undefined ? {} : { version };
  }

  /** Says whether a scope knows other versions than there are: of tools that name theirs, or where a call is parked. */
  areNewTo({ calls, scope }: State): boolean {
    if (!hasRule(scope.protocol, "parked_divergence")) return false;
    const isOther = ([id, version]: [string, string | null]): boolean => versionIn(scope.versions, id) !== version;
    return Object.entries(this.#named).some(isOther) || calls.some((row) => this.#heals(row));
  }

  #heals(row: CallRow): boolean {
    if (row.phase !== "unknown" || row.cause === "owner_lost") return false;
    const version = this.of(row.body.manifest.id);
    return version !== undefined && !hasFailed(row.body, version);
  }
}
