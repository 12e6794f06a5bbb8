/** A scope among others: what it says and hears, what runs its process, and those who wait for either. */
import type { Access } from "./access.ts";
import type { ProcessReach } from "./context/process-reach.ts";
import { type Engines, EngineRuns } from "./engine.ts";
import { ScopeLost } from "./error.ts";
import { Links } from "./link.ts";
import { Inbox } from "./inbox.ts";
import type { Journal } from "./journal.ts";
import { plainEnvironment, reachOf } from "./process-scope.ts";
import { type ProcessCommand, type ProcessHost, ProcessWork, type Workplace } from "./process-work.ts";
import type { LiveTool } from "./live-tool.ts";
import type { ToolHost } from "./tool-host.ts";
import { Watch } from "./watch.ts";

export interface AmongHost extends ProcessHost, Pick<ToolHost, "internalError"> {
  /** What runs processes that are no tool's call, by their kind; turns of sessions under `session_turn`. */
  readonly engines?: Engines;
}

export interface AmongPort {
  readonly host: AmongHost;
  /** What lies in its inbox. */
  readonly letters: () => ReturnType<Journal["inbox"]>;
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
  readonly #engines: EngineRuns;
  readonly #work: ProcessWork;

  /** `answered`: a link may have room again. */
  constructor(access: Access, { host, tool, letters }: AmongPort, answered: () => void) {
    this.scope = { ...access, report: (what, thrown) => host.internalError?.(what, thrown) };
    this.links = new Links(this.scope, answered);
    this.inbox = new Inbox({ links: this.links, letters, settled: () => access.runner.settled() });
    this.#engines = new EngineRuns(this.scope, host.engines ?? {});
    const { scope, watch } = this;
    this.#work = new ProcessWork({ scope, watch, engines: this.#engines, host });
    const environmentSpec = host.environmentSpec ?? (() => plainEnvironment);
    this.reach = reachOf({
      scope,
      watch,
      tool,
      environmentSpec,
      childStarted: (...child) => host.childStarted?.(...child),
    });
  }

  perform(command: ProcessCommand): Promise<void> {
    return this.#work.perform(command);
  }

  lose(why: string): void {
    this.#engines.lose();
    this.watch.lose(new ScopeLost(why));
  }
}
