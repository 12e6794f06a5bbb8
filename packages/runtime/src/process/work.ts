/** Performs the commands of a scope that concern processes, other scopes, background runs, tasks and schedules. */
import type { Command, Tool } from "@pawl/sansio-core";
import { type ProcessEvent, wakeId, wakeText } from "@pawl/sansio-core/driver";
import { ScopeLost, textOf } from "../error.ts";
import { sessionOf } from "../host/tool-host.ts";
import type { Access } from "../scope/access.ts";
import { problemOfEvent } from "../scope/round-trip.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import { EngineRuns, failedTool } from "./engine.ts";
import type { Wake } from "./host.ts";
import { eventAfter } from "./log.ts";
import { Links } from "./message/inbox.ts";
import { LongWork, type LongWorkCommand, deliverToHost } from "./run/long-work.ts";
import { Runs } from "./run/run.ts";
import type { LiveWork } from "./run/session-work.ts";
import type { ScopeLinksPort, Watch } from "./scope-links.ts";

type Of<T extends Command["type"]> = Extract<Command, { readonly type: T }>;
export type ProcessCommand =
  | LongWorkCommand
  | Of<
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
export interface ScopeAccess extends Access {
  /** Reports an internal error to the host. */
  readonly report: (what: string, thrown: unknown) => void;
}

export interface ScopeWorkPort extends ScopeLinksPort {
  readonly scope: ScopeAccess;
  readonly watch: Watch;
  /** Called when a link may have room again. */
  readonly answered: () => void;
  readonly tell: (said: Ephemeral) => void;
}

const wakeOf = ({ key, wake }: Of<"wake.deliver">): Wake => {
  const { dedupe_key, ...said } = wake;
  return { wake_id: wakeId(wake.target, dedupe_key).wake_id, key, ...said, text: wakeText(wake) };
};

export class ScopeWork {
  readonly #port: ScopeWorkPort;
  readonly links: Links;
  /** Serves background runs, tasks and schedules. */
  readonly longWork: LongWork;
  /** Executes the background run that this scope is, if it is one. */
  readonly runs: Runs;
  readonly live: LiveWork;
  readonly #engines: EngineRuns;

  constructor(port: ScopeWorkPort) {
    this.#port = port;
    const { scope, watch, host, places, glimpse } = port;
    this.links = new Links(scope, port.answered);
    this.#engines = new EngineRuns(scope, host.engines ?? {});
    this.longWork = new LongWork({ scope, watch, places, host });
    this.runs = this.#makeRuns();
    this.live = { scope, asked: this.longWork.asked, watch, glimpse };
  }

  #makeRuns(): Runs {
    const { scope, places, host, owner, tool, background: options, tell, showIn } = this.#port;
    const show = (said: Ephemeral): void => {
      tell(said);
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
        return this.#port.watch.look();
      case "deletion.report":
        return this.#port.watch.look();
      default:
        return this.longWork.perform(command);
    }
  }

  /** Delivers a wake until the host has taken it. */
  async #wake(delivery: Of<"wake.deliver">): Promise<void> {
    const { scope, host } = this.#port;
    const { wake } = host;
    if (wake === undefined) return;
    const { key } = delivery;
    const told = { type: "wake.acked", key } as const;
    await deliverToHost(scope, { key, deliver: () => wake(wakeOf(delivery)), told, what: `wake ${key}` });
  }

  #observe(command: Of<"process.observe">): void {
    const { scope, host } = this.#port;
    if (command.what === "ended") this.runs.ended();
    try {
      host.observeProcess?.(scope.runner.id, command);
    } catch (thrown) {
      scope.report(`an observer of ${scope.runner.id}`, thrown);
    }
  }

  async #load({ env_ref: envRef }: Of<"env.load">): Promise<void> {
    const { runner } = this.#port.scope;
    const tools = await this.#toolsOf(envRef);
    if (runner.isAbandoned || runner.state.process?.run !== "env") return;
    if (typeof tools === "string") return this.#engines.complete(failedTool(tools));
    runner.apply({ type: "catalog.published", tools });
  }

  /** Returns the tools of an environment, or the reason why there are none. */
  async #toolsOf(envRef: string): Promise<readonly Tool[] | string> {
    const { scope, host } = this.#port;
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
    return eventAfter(this.#port, eventType, after, signal);
  }

  abandon(why: string): void {
    this.#engines.abandon();
    this.longWork.abandon(new ScopeLost(why));
  }
}
