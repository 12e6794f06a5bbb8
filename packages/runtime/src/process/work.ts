/** Performs the commands of a scope that concern processes, other scopes, background runs, tasks and schedules. */
import type { CommandOf, Tool } from "@pawl/sansio-core";
import { type ProcessEvent, toolsUnder, wakeId, wakeText } from "@pawl/sansio-core/driver";
import { ScopeLost, textOf } from "../error.ts";
import { type HostSide, sessionOf } from "../host/host.ts";
import { type Access, problemOfEvent } from "../scope/access.ts";
import type { Instance } from "../session/instance.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import { EngineRuns, failedTool } from "./engine.ts";
import type { Wake } from "./host.ts";
import { eventAfter } from "./log.ts";
import { Links } from "../message/inbox.ts";
import { type LongWorkCommand, deliverToHost, LongWork } from "./run/long-work.ts";
import { Runs } from "./run/run.ts";
import type { LiveWork } from "./run/session-work.ts";
import type { ScopeLinks } from "./scope-links.ts";

export type ProcessCommand =
  | LongWorkCommand
  | CommandOf<
      | "send"
      | "message.answer"
      | "wake.deliver"
      | "env.load"
      | "engine.run"
      | "engine.cancel"
      | "process.observe"
      | "deletion.report"
    >;

/** A scope, as the code that works for its process sees it. */
export type ScopeAccess = Access;

const wakeOf = ({ key, wake }: CommandOf<"wake.deliver">): Wake => {
  const { dedupe_key, ...said } = wake;
  return { wake_id: wakeId(wake.target, dedupe_key).wake_id, key, ...said, text: wakeText(wake) };
};

export class ScopeWork {
  readonly #scopeLinks: ScopeLinks;
  readonly #instance: Instance;
  readonly #side: HostSide;
  readonly links: Links;
  /** Serves background runs, tasks and schedules. */
  readonly longWork: LongWork;
  /** Executes the background run that this scope is, if it is one. */
  readonly runs: Runs;
  readonly live: LiveWork;
  readonly #engines: EngineRuns;

  /** `answered` is called when a link may have room again. */
  constructor(scopeLinks: ScopeLinks, instance: Instance, side: HostSide, answered: () => void) {
    const { scope, watch } = scopeLinks;
    const { places, glimpse } = instance;
    const { host } = side;
    this.#scopeLinks = scopeLinks;
    this.#instance = instance;
    this.#side = side;
    this.links = new Links(scope, answered);
    this.#engines = new EngineRuns(scope, host.engines ?? {});
    this.longWork = new LongWork({ scope, watch, places, host });
    this.runs = this.#makeRuns();
    this.live = { scope, asked: this.longWork.asked, watch, glimpse };
  }

  get #scope(): Access {
    return this.#scopeLinks.scope;
  }

  #makeRuns(): Runs {
    const scope = this.#scope;
    const { places, owner, showIn } = this.#instance;
    const { host, tool, background: options } = this.#side;
    const show = (said: Ephemeral): void => {
      this.#scopeLinks.tell(said);
      showIn(`session:${sessionOf(scope.runner.state)}`, said);
    };
    return new Runs({ scope, places, host, options, owner, tool, show });
  }

  async perform(command: ProcessCommand): Promise<void> {
    switch (command.type) {
      case "send":
      case "message.answer":
        return; // Sent as a message with the append of its event.
      case "wake.deliver":
        return this.#wake(command);
      case "env.load":
        return this.#load(command);
      case "engine.run":
        return this.#engines.run();
      case "engine.cancel":
        return this.#engines.cancel();
      case "process.observe":
        this.#observe(command);
        return this.#scopeLinks.watch.look();
      case "deletion.report":
        return this.#scopeLinks.watch.look();
      default:
        return this.longWork.perform(command);
    }
  }

  /** Delivers a wake until the host has taken it. */
  async #wake(delivery: CommandOf<"wake.deliver">): Promise<void> {
    const scope = this.#scope;
    const { host } = this.#side;
    const { wake } = host;
    if (wake === undefined) return;
    const { key } = delivery;
    const told = { type: "wake.acked", key } as const;
    await deliverToHost(scope, { key, deliver: () => wake(wakeOf(delivery)), told, what: `wake ${key}` });
  }

  #observe(command: CommandOf<"process.observe">): void {
    const scope = this.#scope;
    const { host } = this.#side;
    if (command.what === "ended") this.runs.ended();
    try {
      host.observeProcess?.(scope.runner.id, command);
    } catch (thrown) {
      scope.report(`an observer of ${scope.runner.id}`, thrown);
    }
  }

  async #load({ env_ref: envRef }: CommandOf<"env.load">): Promise<void> {
    const { runner } = this.#scope;
    const tools = await this.#toolsOf(envRef);
    if (runner.isAbandoned || runner.state.process?.run !== "env") return;
    if (typeof tools === "string") return this.#engines.complete(failedTool(tools));
    const known = toolsUnder(runner.state.scope.protocol, tools);
    runner.apply({ type: "catalog.published", tools: known, ...this.#side.versions.toldTo(runner.state) });
  }

  /** Returns the tools of an environment, or the reason why there are none. */
  async #toolsOf(envRef: string): Promise<readonly Tool[] | string> {
    const scope = this.#scope;
    const { host } = this.#side;
    try {
      const tools = await host.environment?.(envRef);
      if (tools === undefined || tools.length === 0) return `environment \`${envRef}\` is not known here`;
      const problem = problemOfEvent({ type: "catalog.published", tools });
      return problem === undefined ? tools : `environment \`${envRef}\` does not fit: ${problem}`;
    } catch (thrown) {
      scope.report(`environment ${envRef}`, thrown);
      return `environment \`${envRef}\` could not be loaded: ${textOf(thrown)}`;
    }
  }

  /** Resolves with the first event of a type behind sequence `after` in the log of its process. */
  eventAfter(eventType: string, after: number, signal: AbortSignal): Promise<ProcessEvent> {
    return eventAfter(this.#scopeLinks, eventType, after, signal);
  }

  abandon(why: string): void {
    this.#engines.abandon();
    this.longWork.abandon(new ScopeLost(why));
  }
}
