/**
 * A scope among others: what it says and hears, what runs its process, and those who wait for either. Most sessions
 * never have anything to do with others: what does it is made when it is needed.
 */
import type { Access } from "../scope/access.ts";
import type { BackgroundHost } from "./run/host.ts";
import type { LiveWork } from "./run/session-work.ts";
import { SessionWork } from "./run/session-work.ts";
import type { ProcessApi } from "../body/facet/process-api.ts";
import type { Engines } from "./engine.ts";
import { ScopeLost } from "../error.ts";
import { Inbox } from "./message/inbox.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import type { Observers } from "../session/observe/observer.ts";
import { processApiOf } from "./process-api.ts";
import type { ProcessCommand, ProcessHost } from "./work.ts";
import type { HostSide } from "../host/host-side.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import type { Instance } from "../session/instance.ts";
import { ScopeWork } from "./scope-work.ts";
import type { ToolHost } from "../host/tool-host.ts";
import { Watch } from "./watch.ts";

export interface ScopeLinksHost extends ProcessHost, BackgroundHost, Pick<ToolHost, "internalError"> {
  /** What runs processes that are no tool's call, by their kind; turns of sessions under `session_turn`. */
  readonly engines?: Engines;
}

export class ScopeLinks {
  readonly #instance: Instance;
  readonly #side: HostSide;
  /** The scope, for those who work for its process. */
  readonly scope: Access;
  readonly inbox: Inbox;
  /** Those who wait for the state of this scope. */
  readonly watch = new Watch();
  readonly processApi: ProcessApi;
  readonly #observers: Observers;
  /** Called when a link may have room again. */
  readonly #answered: () => void;
  #work: ScopeWork | undefined;

  constructor(
    scope: Access,
    instance: Instance,
    store: ScopeStore,
    side: HostSide,
    observers: Observers,
    answered: () => void,
  ) {
    const { runner } = scope;
    this.scope = scope;
    this.#instance = instance;
    this.#side = side;
    this.#observers = observers;
    this.#answered = answered;
    this.inbox = new Inbox({
      take: (letter) => this.#made.links.take(letter),
      messages: store.inbox,
      whenDurable: () => runner.whenDurable(),
    });
    this.processApi = processApiOf({
      runner,
      host: side.host,
      tool: side.tool,
      work: new SessionWork(async () => this.live),
      scopeWork: () => this.#made,
    });
  }

  /** Makes it at its first use. */
  get #made(): ScopeWork {
    return (this.#work ??= new ScopeWork(this, this.#instance, this.#side, this.#answered));
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
