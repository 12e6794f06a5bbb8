/**
 * The links of a scope to others: its inbox, its process, its background runs, and those who wait for its state. Most
 * sessions use none of this, so the workers behind it are made at their first use.
 */
import type { Event, State } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { ProcessApi } from "../body/facet/facet.ts";
import { ScopeLost } from "../error.ts";
import type { HostSide } from "../host/host.ts";
import { type Access, problemOfEvent } from "../scope/access.ts";
import type { ScopeStore } from "../scope/scope-store.ts";
import type { Instance } from "../session/instance.ts";
import type { Ephemeral } from "../session/observe/observation.ts";
import type { Observers } from "../session/observe/observer.ts";
import type { LiveTool } from "../tool/live-tool.ts";
import { plainEnvironment } from "./host.ts";
import { Inbox } from "../message/inbox.ts";
import { type LiveWork, SessionWork } from "./run/session-work.ts";
import { type ProcessCommand, ScopeWork } from "./work.ts";

interface Watcher {
  readonly look: () => boolean;
  readonly reject: (error: Error) => void;
}

/** A condition variable over the state of a scope: waiters are checked whenever something may have come true. */
export class Watch {
  #watchers: Watcher[] = [];

  get isEmpty(): boolean {
    return this.#watchers.length === 0;
  }

  /** Resolves with the first value that `read` finds, now or at a later look. */
  until<A>(read: () => A | undefined): Promise<A> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const found = read();
        if (found !== undefined) resolve(found);
        return found !== undefined;
      };
      if (!look()) this.#watchers.push({ look, reject });
    });
  }

  /** Checks all waiters. */
  look(): void {
    this.#watchers = this.#watchers.filter((watcher) => !watcher.look());
  }

  abandon(error: Error): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const { reject } of watchers) reject(error);
  }
}

const callable = new Set(["callable", "showcased"]);

const toolNamed = ({ catalog }: State, tool: HostSide["tool"], name: string): LiveTool | undefined => {
  const manifest = catalog.byName.get(name);
  if (manifest === undefined) return undefined;
  const availability = catalog.overrides.get(name) ?? manifest.availability;
  return callable.has(availability) ? tool(manifest.id) : undefined;
};

export class ScopeLinks {
  readonly #instance: Instance;
  readonly #side: HostSide;
  /** The scope, as the code that works for its process sees it. */
  readonly scope: Access;
  readonly inbox: Inbox;
  readonly watch = new Watch();
  /** Serves the bodies of this scope. */
  readonly processApi: ProcessApi;
  readonly #observers: Observers;
  readonly #answered: () => void;
  #work: ScopeWork | undefined;

  /** `answered` is called when a link may have room again. */
  constructor(
    scope: Access,
    instance: Instance,
    store: ScopeStore,
    side: HostSide,
    observers: Observers,
    answered: () => void,
  ) {
    this.scope = scope;
    this.#instance = instance;
    this.#side = side;
    this.#observers = observers;
    this.#answered = answered;
    this.inbox = new Inbox({
      take: (message) => this.#made.links.take(message),
      messages: store.inbox,
      whenDurable: () => scope.runner.whenDurable(),
    });
    this.processApi = this.#makeProcessApi();
  }

  #makeProcessApi(): ProcessApi {
    const { host, tool } = this.#side;
    const { runner } = this.scope;
    const isRun = (): boolean => runner.state.background.run !== undefined;
    return {
      state: () => runner.state,
      apply: (event) => this.#apply(event),
      work: new SessionWork(async () => this.live),
      begins: (command) => (isRun() ? this.#made.runs.begins(command) : undefined),
      execute: async (of, command, context, run) =>
        isRun() ? this.#made.runs.execute(of, command, context, run) : of.execute(command.args, context),
      suspended: (call) => (isRun() ? this.#made.runs.suspended(call) : undefined),
      environmentSpec: host.environmentSpec ?? (() => plainEnvironment),
      toolNamed: (name) => toolNamed(runner.state, tool, name),
      eventAfter: (...of) => this.#made.eventAfter(...of),
      childStarted: (...child) => host.childStarted?.(...child),
    };
  }

  #apply(event: Event): ReturnType<ProcessApi["apply"]> {
    const problem = problemOfEvent(event);
    if (problem !== undefined) return { status: "err", error: { code: "durable_effect_value", message: problem } };
    const applied = this.scope.runner.apply(event);
    if (E.isRight(applied)) return { status: "ok", value: null };
    const { code, message } = applied.left;
    return { status: "err", error: { code, message } };
  }

  get #made(): ScopeWork {
    return (this.#work ??= new ScopeWork(this, this.#instance, this.#side, this.#answered));
  }

  /** The background runs, tasks and schedules of the scope. */
  get live(): LiveWork {
    return this.#made.live;
  }

  /** True if nobody waits for anything here. */
  get isEmpty(): boolean {
    return this.watch.isEmpty && (this.#work === undefined || this.#work.longWork.asked.isEmpty);
  }

  /** Shows an observation that is not recorded to those who watch the scope. */
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
