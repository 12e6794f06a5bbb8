/**
 * A scope among others: what it says and hears, what runs its process, and those who wait for either. Most sessions
 * never have anything to do with others: what does it is made when it is needed.
 */
import type { Access } from "../scope/access.ts";
import type { BackgroundHost, BackgroundOptions } from "./run/host.ts";
import type { LiveWork } from "./run/session-work.ts";
import type { Places } from "./run/place.ts";
import { SessionWork } from "./run/session-work.ts";
import type { ProcessApi } from "../body/facet/process-api.ts";
import type { Engines } from "./engine.ts";
import { ScopeLost } from "../error.ts";
import { Inbox } from "./message/inbox.ts";
import type { Glimpse } from "./run/session-work.ts";
import type { Journal } from "../journal/journal.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import type { Observers } from "../session/observe/observer.ts";
import { processApiOf } from "./process-api.ts";
import type { ProcessCommand, ProcessHost, ScopeAccess } from "./work.ts";
import type { LiveTool } from "../tool/live-tool.ts";
import { ScopeWork, type ScopeWorkPort } from "./scope-work.ts";
import type { ToolHost } from "../host/tool-host.ts";
import { Watch } from "./watch.ts";

export interface ScopeLinksHost extends ProcessHost, BackgroundHost, Pick<ToolHost, "internalError"> {
  /** What runs processes that are no tool's call, by their kind; turns of sessions under `session_turn`. */
  readonly engines?: Engines;
}

export interface ScopeLinksPort {
  readonly host: ScopeLinksHost;
  /** What lies in its inbox. */
  readonly messages: () => ReturnType<Journal["inbox"]>;
  readonly owner: string;
  readonly places: Places;
  readonly background: BackgroundOptions;
  /** Another scope as it stands, without owning it. */
  readonly glimpse: (scope: string) => Promise<Glimpse>;
  readonly showIn: (scope: string, observation: Ephemeral) => void;
  readonly tool: (id: string) => LiveTool | undefined;
}

export class ScopeLinks {
  readonly #port: ScopeWorkPort;
  /** The scope, for those who work for its process. */
  readonly scope: ScopeAccess;
  readonly inbox: Inbox;
  /** What waits for the state of this scope. */
  readonly watch = new Watch();
  readonly processApi: ProcessApi;
  readonly #observers: Observers;
  #work: ScopeWork | undefined;

  /** `answered`: a link may have room again. */
  constructor(access: Access, port: ScopeLinksPort, answered: () => void, observers: Observers) {
    const { host } = port;
    this.#observers = observers;
    this.scope = { ...access, report: (what, thrown) => host.internalError?.(what, thrown) };
    const { scope, watch } = this;
    this.#port = { ...port, scope, watch, answered, tell: (said) => this.tell(said) };
    this.inbox = new Inbox({
      take: (letter) => this.#made.links.take(letter),
      messages: port.messages,
      whenDurable: () => access.runner.whenDurable(),
    });
    this.processApi = processApiOf({
      ...port,
      runner: access.runner,
      work: new SessionWork(async () => this.live),
      scopeWork: () => this.#made,
    });
  }

  /** Makes it at its first use. */
  get #made(): ScopeWork {
    return (this.#work ??= new ScopeWork(this.#port));
  }

  /** Its long work, for who works with it. */
  get live(): LiveWork {
    return this.#made.live;
  }

  /** Whether nobody waits for anything here. */
  get isEmpty(): boolean {
    return this.watch.isEmpty && (this.#work === undefined || this.#work.longWork.asked.isEmpty);
  }

  /** Tells those who watch the scope what is recorded nowhere. */
  tell(observation: Ephemeral): void {
    this.#observers.tell(observation, this.scope.runner);
  }

  perform(command: ProcessCommand): Promise<void> {
    return this.#made.perform(command);
  }

  abandon(why: string): void {
    this.#work?.abandon(why);
    this.watch.abandon(new ScopeLost(why));
  }
}
