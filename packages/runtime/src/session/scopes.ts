/**
 * The scopes of one runtime that are in memory: opened at their first use, evicted when they have been at rest for a
 * while, and given up when they are lost.
 *
 *                claim                    at rest, then linger.ms
 *    not here ──────────► in memory ◄────────────────────────────► evicted
 *        ▲                    │              load, no claim            │
 *        └────────────────────┴────────────────────────────────────────┘
 *           lost: abandoned by its runner, claimed by another instance, moved, or the lease ran out
 *
 * Opening is single-flight: whoever asks while a scope is being opened gets the same promise. A scope whose opening
 * fails is abandoned before the next attempt, since half open it would go on beside the one that is opened next.
 *
 * An evicted scope still belongs to this instance. It comes back under the same epoch, without an event of a new
 * ownership in its log; those who wait for its replies wait on, and its next deadline brings it back.
 */
import { defaultOptions } from "@pawl/sansio-core";
import { type HostSide, answersOf } from "../host/host.ts";
import type { Instance } from "./instance.ts";
import type { SessionOptions } from "../host/about.ts";
import { OwnTools } from "./catalog.ts";
import { Callers } from "./callers.ts";
import { Session } from "./session.ts";
import { ScopeLost, isRace, textOf } from "../error.ts";
import type { Holding } from "../journal/journal.ts";
import { type Evicted, abandonEvicted, defaultLinger, evictedUntil, IdleCache } from "../lifecycle/eviction.ts";
import type { Moves } from "../move/move.ts";
import { type RuntimeOptions, storedOptions } from "../runtime-options.ts";
import { ScopeClock } from "../scope/clock.ts";
import { claimed, isStored, mayGoOnTo, openingOf, openState, wholly } from "../scope/open-scope.ts";
import { RejectedSizes, valuesOf } from "../scope/large-values.ts";
import { scopeStoreOf } from "../scope/scope-store.ts";
import { tellSpans } from "../log.ts";
import { type Registry, ToolNews } from "../tool/registry.ts";

/** Scopes that are released side by side while a runtime drains. */
const releasedAtOnce = 16;

/** The parts of a runtime that are asked when a scope is opened. */
export interface Opening {
  readonly registry: Registry;
  readonly moves: () => Moves;
  readonly joined: () => Promise<void> | undefined;
}

export class Scopes {
  readonly #options: RuntimeOptions;
  readonly #instance: Instance;
  readonly #side: HostSide;
  readonly #opening: Opening;
  readonly inMemory = new Map<string, Promise<Session>>();
  readonly #evicted = new Map<string, Evicted>();
  /** Evicted scopes with a parked call. */
  readonly #parked = new Set<string>();
  readonly #idle: IdleCache<Session>;
  readonly #rejected: RejectedSizes;
  readonly #news: ToolNews;
  readonly #own: OwnTools;

  constructor(options: RuntimeOptions, instance: Instance, side: HostSide, opening: Opening) {
    const { platform } = instance;
    this.#options = options;
    this.#instance = instance;
    this.#side = side;
    this.#opening = opening;
    this.#idle = new IdleCache(platform, { ...defaultLinger, ...options.linger }, this.#evict);
    this.#rejected = new RejectedSizes(platform);
    const { instance: name, codeVersion } = options;
    this.#own = new OwnTools({ codeVersion, instance: name, platform }, (changed) => this.#publish(changed));
    this.#news = new ToolNews(options.platform, this.inMemory, (session) =>
      this.#own.catalogOf(session, opening.registry),
    );
    this.#news.watch(opening.registry);
  }

  /**
   * Scopes that need no recovery: in memory, or evicted while the host waits for people in their name, or while a call is
   * parked that nothing here can go on with. Without a lease another instance may have claimed the latter meanwhile.
   */
  get lookedAfter(): { readonly has: (scope: string) => boolean; readonly size: number } {
    const { inMemory } = this;
    const { hostRequests, isLeased } = this.#instance;
    const parked = this.#parked;
    return {
      has: (scope) => inMemory.has(scope) || hostRequests.has(scope) || (parked.has(scope) && isLeased()),
      get size() {
        return inMemory.size + hostRequests.size + parked.size;
      },
    };
  }

  /** Says whether this instance owns the scope, in memory or evicted. */
  isOpen(scope: string): boolean {
    return this.inMemory.has(scope) || this.#evicted.has(scope);
  }

  async has(scope: string): Promise<boolean> {
    this.#instance.shutdown.pass();
    return this.inMemory.has(scope) || isStored(this.#options.journal, scope);
  }

  /** Returns the session of a scope: the one in memory, or claimed or loaded, and going on with what was under way. */
  open(scope: string): Promise<Session> {
    const { refusal, opening } = this.#instance.shutdown;
    if (refusal !== undefined) return Promise.reject(refusal);
    const known = this.inMemory.get(scope);
    if (known !== undefined) return known;
    if (opening !== undefined) return Promise.reject(opening);
    const evicted = this.#evicted.get(scope);
    this.#evicted.delete(scope);
    this.#parked.delete(scope);
    evicted?.callOff?.();
    const open = evicted === undefined ? this.#claim(scope) : this.#reload(scope, evicted);
    this.inMemory.set(scope, open);
    open.catch(() => this.inMemory.get(scope) === open && this.inMemory.delete(scope));
    return open;
  }

  /** Returns the session of a scope with a title, tags and tools, as far as they are said. */
  async openAs(scope: string, { tools, ...about }: SessionOptions): Promise<Session> {
    if (tools !== undefined) this.#own.give(scope, tools);
    const session = await this.open(scope);
    await session.describe(about, tools === undefined ? undefined : true);
    if (tools !== undefined) await this.#news.tell(session);
    return session;
  }

  /** Publishes the own tools of a scope, if it is in memory. */
  #publish(scope: string): void {
    this.#news.changed(() => [this.inMemory.get(scope)]);
  }

  atRest(session: Session): void {
    this.#idle.rest(session);
  }

  lost(session: Session): void {
    const { id } = session.runner;
    this.#idle.forget(session);
    this.#instance.crashTurns.forget(id);
    this.#instance.queues.forget(id);
    this.inMemory.delete(id);
  }

  /** Abandons all scopes: none belongs to this instance any more. */
  abandonAll(why: string): void {
    for (const open of this.inMemory.values())
      void open.then(({ runner }) => runner.abandon(why)).catch(() => undefined); // One that could not be opened is lost already.
    abandonEvicted(this.#evicted, why);
    this.#parked.clear();
    this.#instance.queues.lost();
  }

  /**
   * Ends all bodies as if by a crash, and resolves when all that was stepped is durable, or cannot be. Scopes of which all
   * is durable are released: their next owner does not take this for a crash.
   */
  async close(): Promise<void> {
    await Promise.allSettled([...this.inMemory].map(([scope, open]) => this.#close(scope, open)));
    this.abandonAll("the runtime was closed");
  }

  /**
   * Lets go of all scopes, each as soon as its bodies stand at a record, so that other instances go on with them at once. After
   * `withinMs` the rest ends as by `close`.
   */
  async drain(withinMs: number): Promise<void> {
    const letGo = async ([scope, open]: readonly [string, Promise<Session>]): Promise<void> => {
      const session = await open;
      await session.leaving.cease(withinMs);
      await this.#close(scope, open);
      session.runner.abandon("its host is about to stop");
    };
    await Promise.all([this.#releaseEvicted(), Promise.allSettled([...this.inMemory].map(letGo))]);
    await this.#releaseEvicted(); // Some may have left memory meanwhile.
  }

  /** Releases the scopes that are not in memory. One that is not released is free once this instance has left. */
  async #releaseEvicted(): Promise<void> {
    const { journal, instance } = this.#options;
    const scopes = [...this.#evicted.keys()];
    abandonEvicted(this.#evicted, "its host is about to stop");
    const next = async (): Promise<void> => {
      for (let scope = scopes.pop(); scope !== undefined; scope = scopes.pop())
        await journal
          .release(scope, instance)
          .catch((thrown: unknown) => this.#fault("a scope was not released", thrown));
    };
    await Promise.all(Array.from({ length: releasedAtOnce }, next));
  }

  async #close(scope: string, open: Promise<Session>): Promise<void> {
    const { journal, instance } = this.#options;
    if (await (await open).close()) await journal.release(scope, instance);
  }

  /** Evicts a scope, unless something besides its log is needed to go on with it. */
  readonly #evict = (session: Session): void => {
    if (!session.isIdle) return;
    const { id } = session.runner;
    this.inMemory.delete(id);
    if (session.state.calls.some(({ phase }) => phase === "unknown")) this.#parked.add(id);
    const wake = (): void =>
      void this.open(id).catch((why: unknown) => isRace(why) || this.#fault(`${id} was not woken`, why));
    this.#evicted.set(id, evictedUntil(session.runner, session.leave(), this.#instance.platform, wake));
  };

  #fault(what: string, thrown: unknown): void {
    this.#options.host?.fault?.(what, thrown);
  }

  async #claim(scope: string): Promise<Session> {
    const { instance, options = {}, upgrade } = this.#options;
    await this.#opening.joined();
    const claim = await claimed(this.#options, scope);
    const session = await this.#load(scope, claim);
    const told = { ...defaultOptions, ...answersOf(this.#side.host), ...storedOptions(options) };
    return wholly(session, async () => {
      await tellSpans(this.#options, session.state);
      const { versions } = this.#side;
      const by = { ...claim, owner: instance, newest: mayGoOnTo(upgrade, claim), versions };
      const values = valuesOf(this.#options, scope, this.#rejected);
      const opening = await openingOf(session.state, values, by, told);
      await session.open(opening, this.#own.catalogOf(session, this.#opening.registry));
      this.#instance.sent(scope); // Messages may have come before it had an owner.
    });
  }

  /** Brings an evicted scope back. Where another instance has claimed it meanwhile, its callers are told. */
  async #reload(scope: string, { callers = new Callers(), ...evicted }: Evicted): Promise<Session> {
    try {
      const { journal, instance } = this.#options;
      const held = await (journal.open ?? journal).load(scope, instance);
      if (held !== undefined) {
        const session = await this.#load(scope, held, { ...evicted, callers });
        return await wholly(session, () => this.#news.tell(session));
      }
    } catch (thrown) {
      callers.abandon(new ScopeLost(`scope ${scope} could not be loaded: ${textOf(thrown)}`));
      throw thrown;
    }
    callers.abandon(new ScopeLost(`scope ${scope} was claimed by another instance`));
    return this.#claim(scope);
  }

  async #load(scope: string, held: Holding, evicted: Evicted = {}): Promise<Session> {
    const { epoch, snapshot } = held;
    const { callers = new Callers(), clock = new ScopeClock(this.#instance.platform) } = evicted;
    const fault = (what: string, thrown: unknown): void => this.#fault(`${scope}: ${what}`, thrown);
    const opened = await openState(this.#options.journal, scope, held, (what) => fault(what, snapshot));
    const { state } = opened;
    if (state.scope.status.type !== "open") {
      await this.#opening.moves().conclude(state, epoch);
      return this.#load(scope, { epoch, seq: state.seq + 1 }, evicted);
    }
    const store = scopeStoreOf(this.#options, { scope, epoch, clock, opened, fault, rejected: this.#rejected });
    const made: { session?: Session } = {};
    const side = this.#own.sideOf(scope, this.#side, () => (made.session?.state ?? state).about.ownTools);
    const session = new Session(state, this.#instance, store, side, callers);
    made.session = session;
    session.runner.schedule();
    return session;
  }
}
