/** What a scope does with others, and for processes: links, engines, background runs, tasks, schedules. */
import type { ProcessEvent } from "@pawl/sansio-core/driver";
import type { ScopeLinksPort } from "./scope-links.ts";
import { LongWork } from "./run/long-work.ts";
import type { LiveWork } from "./run/session-work.ts";
import { Runs } from "./run/run.ts";
import { EngineRuns } from "./engine.ts";
import { ScopeLost } from "../error.ts";
import { Links } from "./message/link.ts";
import { sessionOf } from "../host/call-place.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import { eventAfter } from "./process-scope.ts";
import { type ProcessCommand, ProcessWork, type ScopeAccess } from "./work.ts";
import type { Watch } from "./watch.ts";

export interface ScopeWorkPort extends ScopeLinksPort {
  readonly scope: ScopeAccess;
  readonly watch: Watch;
  /** A link may have room again. */
  readonly answered: () => void;
  readonly tell: (said: Ephemeral) => void;
}

export class ScopeWork {
  readonly #port: ScopeWorkPort;
  readonly links: Links;
  /** Its background runs, tasks and schedules; and what it is itself, where it is a run. */
  readonly longWork: LongWork;
  readonly runs: Runs;
  /** Its long work, for who works with it. */
  readonly live: LiveWork;
  readonly #engines: EngineRuns;
  readonly #work: ProcessWork;

  constructor(port: ScopeWorkPort) {
    this.#port = port;
    const { scope, watch, host, places } = port;
    this.links = new Links(scope, port.answered);
    this.#engines = new EngineRuns(scope, host.engines ?? {});
    this.longWork = new LongWork({ scope, watch, places, host });
    this.runs = this.#runs();
    const { longWork, runs } = this;
    this.live = { scope, asked: longWork.asked, watch, glimpse: port.glimpse };
    this.#work = new ProcessWork({ scope, watch, engines: this.#engines, host, longWork, runs });
  }

  #runs(): Runs {
    const { scope, places, host, owner, tool, background: options, tell, showIn } = this.#port;
    const show = (said: Ephemeral): void => {
      tell(said);
      showIn(`session:${sessionOf(scope.runner.state)}`, said);
    };
    return new Runs({ scope, places, host, options, owner, tool, show });
  }

  perform(command: ProcessCommand): Promise<void> {
    return this.#work.perform(command);
  }

  /** The first event of a type after a place in the log of its process. */
  eventAfter(eventType: string, after: number, signal: AbortSignal): Promise<ProcessEvent> {
    return eventAfter(this.#port, eventType, after, signal);
  }

  abandon(why: string): void {
    this.#engines.abandon();
    this.longWork.abandon(new ScopeLost(why));
  }
}
