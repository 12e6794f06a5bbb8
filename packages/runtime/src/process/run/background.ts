/** The background runs of a worker: how many run at once, and the API by which a host starts and inspects them. */
import { envRef, startedBySession } from "@pawl/sansio-core/driver";
import { type Json, stableHash } from "@pawl/tool-value";
import { Refused } from "../../error.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import type { Registry } from "../../tool/registry.ts";
import { type BackgroundOptions, defaultBackground, plainEnvironment } from "../host.ts";
import type { Spawned } from "../../body/facet/long-work.ts";
import { hashAt, runIdOf, taskIdOf } from "./request.ts";
import { type LiveWork, SessionWork } from "./session-work.ts";

interface Queued {
  readonly run: string;
  readonly holder: string;
  readonly enter: (hasPlace: boolean) => void;
}

/**
 * A counting semaphore for the runs of this worker. A run takes one place. The place is held by the scopes that take part
 * in the run, which are the session that asked for it and the process that executes it; it is free when none holds it.
 */
export class Places {
  readonly limit: number;
  readonly #held = new Map<string, Set<string>>();
  /** Counts the places of each scope; a scope without any is not in it. */
  readonly #counts = new Map<string, number>();
  #queue: Queued[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get active(): number {
    return this.#held.size;
  }

  heldBy(holder: string): number {
    return this.#counts.get(holder) ?? 0;
  }

  /** Returns the scopes that hold places. */
  holders(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** Takes a place for a run, or shares the one that the run has; false if all places are taken. */
  take(run: string, holder: string): boolean {
    const holders = this.#held.get(run);
    if (holders === undefined && this.#held.size >= this.limit) return false;
    if (holders?.has(holder)) return true;
    if (holders === undefined) this.#held.set(run, new Set([holder]));
    else holders.add(holder);
    this.#counts.set(holder, this.heldBy(holder) + 1);
    return true;
  }

  /** Waits for a place; resolves with false if the holder is forgotten before there is one. */
  queue(run: string, holder: string): Promise<boolean> {
    return new Promise((enter) => void this.#queue.push({ run, holder, enter }));
  }

  release(run: string, holder: string): void {
    const holders = this.#held.get(run);
    if (!holders?.delete(holder)) return;
    const left = this.heldBy(holder) - 1;
    if (left > 0) this.#counts.set(holder, left);
    else this.#counts.delete(holder);
    if (holders.size === 0) this.#held.delete(run);
    this.#admit();
  }

  /** Frees the place of a run, whoever shares it. */
  giveBack(run: string): void {
    for (const holder of this.#held.get(run) ?? []) this.release(run, holder);
  }

  /** Releases all places of a scope that is another worker's now, or has ended. */
  forget(holder: string): void {
    const gone = this.#queue.filter((queued) => queued.holder === holder);
    this.#queue = this.#queue.filter((queued) => queued.holder !== holder);
    for (const { enter } of gone) enter(false);
    for (const run of this.#held.keys()) this.release(run, holder);
  }

  #admit(): void {
    for (let [first] = this.#queue; first !== undefined && this.take(first.run, first.holder); [first] = this.#queue) {
      this.#queue.shift();
      first.enter(true);
    }
  }
}

interface Addressed {
  readonly scopeLinks: { readonly live: LiveWork };
}

/** A run that a host starts in the name of a session. */
export interface HostRun {
  readonly tool: string;
  readonly args: Json;
  readonly title?: string;
  readonly signal?: boolean;
  /** Identifies the request: repeated under the same key, it finds the same run. */
  readonly key?: string;
}

/** Starts background runs, and lists, updates and cancels the tasks and schedules of any session. */
export class Background {
  readonly #open: (scope: string) => Promise<Addressed>;
  readonly #registry: Registry;
  readonly #environment: () => Json;
  #count = 0;
  readonly options: BackgroundOptions;
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

  /** Returns the runs, tasks and schedules of a session. */
  of(session: string): SessionWork {
    return new SessionWork(() => this.#live(session));
  }

  /** Starts a run; the answer says why if there is no place for it. */
  async spawn(session: string, { tool: name, args, key, ...said }: HostRun): Promise<Spawned> {
    const tool = this.#registry.named(name);
    if (tool?.background === undefined) throw new Refused("tool_unknown", `no tool \`${name}\` runs in the background`);
    const { state } = (await this.#live(session)).scope.runner;
    const at = key === undefined ? state.at : 0;
    const hash = key === undefined ? hashAt(state, `${(this.#count += 1)}`) : stableHash([state.scope.id, key]);
    const [run, task] = [runIdOf(at, hash), taskIdOf(stableHash([hash, "task"]))];
    const { provenance } = startedBySession({ session_id: session });
    const request = { ...said, run, task, tool, args, provenance, envRef: envRef(this.#environment()) };
    return { run, ...(await this.of(session).spawn(request)) };
  }
}
