/** Background runs, tasks and schedules as the host works with them, session by session. */
import { type Json, stableHash } from "@pawl/tool-value";
import type { Spawned } from "../../body/facet/long-work.ts";
import { Refused } from "../../error.ts";
import { plainEnvironment } from "../process-api.ts";
import type { Registry } from "../../tool/registry.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import { type BackgroundOptions, defaultBackground } from "./host.ts";
import { hostRunRequest } from "./host-run.ts";
import { hashAt, runIdOf, taskIdOf } from "./identity.ts";
import { Places } from "./place.ts";
import { type LiveWork, SessionWork } from "./session-work.ts";

interface Addressed {
  readonly scopeLinks: { readonly live: LiveWork };
}

/** A run that a host asks for in the name of a session. */
export interface HostRun {
  readonly tool: string;
  readonly args: Json;
  readonly title?: string;
  readonly signal?: boolean;
  /** Asked again under the same one, it is the same run. */
  readonly key?: string;
}

/** Lists, updates and cancels the background runs, tasks and schedules of all sessions. */
export class Background {
  readonly #open: (scope: string) => Promise<Addressed>;
  readonly #registry: Registry;
  readonly #environment: () => Json;
  #count = 0;
  readonly options: BackgroundOptions;
  /** This worker's places, and who holds them. */
  readonly places: Places;

  constructor(
    open: (scope: string) => Promise<Addressed>,
    registry: Registry,
    { host, background }: Pick<RuntimeOptions, "host" | "background">,
  ) {
    this.#open = open;
    this.#registry = registry;
    this.#environment = host?.environmentSpec ?? (() => plainEnvironment);
    this.options = { ...defaultBackground, ...background };
    this.places = new Places(this.options.workerRuns);
  }

  async #live(session: string): Promise<LiveWork> {
    return (await this.#open(`session:${session}`)).scopeLinks.live;
  }

  /** The long work of a session. */
  of(session: string): SessionWork {
    return new SessionWork(() => this.#live(session));
  }

  /** Starts a run, or says why there is no place for it. */
  async spawn(session: string, { tool: name, args, key, ...said }: HostRun): Promise<Spawned> {
    const tool = this.#registry.named(name);
    if (tool?.background === undefined) throw new Refused("tool_unknown", `no tool \`${name}\` runs in the background`);
    const { state } = (await this.#live(session)).scope.runner;
    const at = key === undefined ? state.at : 0;
    const hash = key === undefined ? hashAt(state, `${(this.#count += 1)}`) : stableHash([state.scope.id, key]);
    const [run, task] = [runIdOf(at, hash), taskIdOf(stableHash([hash, "task"]))];
    const request = { ...said, run, task, tool, args };
    const made = hostRunRequest(session, request, this.#environment());
    return { run, ...(await this.of(session).spawn(made)) };
  }
}
