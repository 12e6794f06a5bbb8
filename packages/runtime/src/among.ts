/** A scope among others: what it says and hears, what runs its process, and those who wait for either. */
import type { Access } from "./access.ts";
import type { BackgroundHost, BackgroundOptions } from "./background/host.ts";
import { LongWork } from "./background/long-work.ts";
import type { Places } from "./background/place.ts";
import { Runs } from "./background/run.ts";
import { type Glimpse, type LiveWork, SessionWork } from "./background/session-work.ts";
import type { ProcessReach } from "./context/process-reach.ts";
import { type Engines, EngineRuns } from "./engine.ts";
import { ScopeLost } from "./error.ts";
import { Links } from "./link.ts";
import { Inbox } from "./inbox.ts";
import type { Journal } from "./journal.ts";
import { sessionOf } from "./call-place.ts";
import type { Ephemeral } from "./observation.ts";
import type { Observers } from "./observer.ts";
import { plainEnvironment, reachOf } from "./process-scope.ts";
import { type ProcessCommand, type ProcessHost, ProcessWork, type Workplace } from "./process-work.ts";
import type { LiveTool } from "./live-tool.ts";
import type { ToolHost } from "./tool-host.ts";
import { Watch } from "./watch.ts";

export interface AmongHost extends ProcessHost, BackgroundHost, Pick<ToolHost, "internalError"> {
  /** What runs processes that are no tool's call, by their kind; turns of sessions under `session_turn`. */
  readonly engines?: Engines;
}

export interface AmongPort {
  readonly host: AmongHost;
  /** What lies in its inbox. */
  readonly letters: () => ReturnType<Journal["inbox"]>;
  readonly owner: string;
  readonly places: Places;
  readonly background: BackgroundOptions;
  /** Another scope as it stands, without owning it. */
  readonly glimpse: (scope: string) => Promise<Glimpse>;
  readonly showIn: (scope: string, observation: Ephemeral) => void;
  readonly tool: (id: string) => LiveTool | undefined;
}

export class AmongScopes {
  /** The scope, for those who work for its process. */
  readonly scope: Workplace;
  readonly links: Links;
  readonly inbox: Inbox;
  /** What waits for the state of this scope. */
  readonly watch = new Watch();
  readonly reach: ProcessReach;
  /** Its background runs, tasks and schedules; and what it is itself, where it is a run. */
  readonly longWork: LongWork;
  readonly runs: Runs;
  /** Its long work, for who works with it. */
  readonly live: LiveWork;
  readonly #observers: Observers;
  readonly #engines: EngineRuns;
  readonly #work: ProcessWork;

  /** `answered`: a link may have room again. */
  constructor(access: Access, port: AmongPort, answered: () => void, observers: Observers) {
    const { host, tool, letters, places } = port;
    this.#observers = observers;
    this.scope = { ...access, report: (what, thrown) => host.internalError?.(what, thrown) };
    this.links = new Links(this.scope, answered);
    this.inbox = new Inbox({ links: this.links, letters, settled: () => access.runner.settled() });
    this.#engines = new EngineRuns(this.scope, host.engines ?? {});
    const { scope, watch } = this;
    this.longWork = new LongWork({ scope, watch, places, host });
    const { owner, background: options } = port;
    const show = (said: Ephemeral): void => {
      this.tell(said);
      port.showIn(`session:${sessionOf(scope.runner.state)}`, said);
    };
    this.runs = new Runs({ scope, places, host, options, owner, tool, show });
    const { asked } = this.longWork;
    this.live = { scope, asked, watch, glimpse: port.glimpse };
    const { longWork, runs } = this;
    this.#work = new ProcessWork({ scope, watch, engines: this.#engines, host, longWork, runs });
    const environmentSpec = host.environmentSpec ?? (() => plainEnvironment);
    this.reach = reachOf({
      scope,
      watch,
      tool,
      work: new SessionWork(async () => this.live),
      begins: (command) => this.runs.begins(command),
      execute: (...of) => this.runs.execute(...of),
      environmentSpec,
      childStarted: (...child) => host.childStarted?.(...child),
    });
  }

  /** Tells those who watch the scope what is recorded nowhere. */
  tell(observation: Ephemeral): void {
    this.#observers.tell(observation, this.scope.runner);
  }

  perform(command: ProcessCommand): Promise<void> {
    return this.#work.perform(command);
  }

  lose(why: string): void {
    this.#engines.lose();
    this.longWork.lose(new ScopeLost(why));
    this.watch.lose(new ScopeLost(why));
  }
}
