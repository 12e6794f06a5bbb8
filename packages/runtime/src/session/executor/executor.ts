/**
 * Executors run the bodies of `client_side` tools elsewhere. Each has a lease of its own, which begins to run out when
 * its connection is lost: it may come back under its id and go on; only the end of the lease is a loss.
 */
import type { CommandOf } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import type { Platform } from "../../platform.ts";
import type { ProgressSaid } from "../observe/observation.ts";
import type { Offers, Settled, Settlement } from "./offer.ts";
import type { Session } from "../session.ts";

export interface OfferedRun {
  readonly scope: string;
  readonly call: string;
  readonly attempt: number;
  readonly run: number;
}

/** One call that an executor is asked to run. */
export interface Offer extends OfferedRun {
  readonly tool_id: string;
  readonly tool: string;
  readonly args: Json;
  readonly payload: Json;
  /** The token under which the outside may complete an externally owned call without this executor. */
  readonly completion_key?: string;
}

export interface ExecutorSpec {
  /** Unique for each life of the executor: what it has begun is its own until its lease is over. */
  readonly id: string;
  readonly tools: readonly string[];
  readonly serves: (scope: string) => boolean;
  /** May come again for what was offered before: an executor that has begun it, or is done, knows it. */
  readonly offer: (offer: Offer) => void;
  readonly cancel: (run: OfferedRun) => void;
}

/** How an executor went: `released` says that it gave up its runs itself. */
export type ExecutorEnd = "released" | "lost";

/** The scopes that have to do with executors. */
interface ExecutorScopes {
  readonly lost: (scope: string, owner: string, went: ExecutorEnd) => void;
  readonly available: (tools: readonly string[]) => void;
}

interface Entry {
  readonly offer: Offer;
  /** On record as its executor's; before, it is not told. */
  isOut: boolean;
  isCancelled: boolean;
  /** The call went on without it. */
  isEnded: boolean;
}

interface Executor {
  readonly owner: string;
  readonly entries: Map<string, Entry>;
  spec: ExecutorSpec | undefined;
  callOff: (() => void) | undefined;
}

/** Ended offers of an executor that are remembered, so that a late result is known for one. */
const maxEnded = 1000;

const ownerOf = (id: string): string => `executor:${id}`;
const keyOf = ({ scope, call, attempt, run }: OfferedRun): string => JSON.stringify([scope, call, attempt, run]);

export const offerOf = (scope: string, command: CommandOf<"tool.execute">): Offer => {
  const { call, attempt, run, tool_id, tool, args, payload } = command;
  return { scope, call, attempt, run, tool_id, tool, args, payload };
};

export class Executors {
  readonly #platform: Platform;
  readonly #leaseMs: number;
  readonly #scopes: ExecutorScopes;
  readonly #known = new Map<string, Executor>();

  constructor(platform: Platform, leaseMs: number, scopes: ExecutorScopes) {
    this.#platform = platform;
    this.#leaseMs = leaseMs;
    this.#scopes = scopes;
  }

  /**
   * An executor is here, or here again: it is told all that is its own. What this gives back says that it is gone: for
   * as long as its lease, or for ever, in one way or the other.
   */
  register(spec: ExecutorSpec): Leave {
    const executor = this.#at(ownerOf(spec.id));
    executor.callOff?.();
    executor.callOff = undefined;
    executor.spec = spec;
    this.#disown(executor, spec);
    for (const { offer, isOut, isCancelled, isEnded } of executor.entries.values()) {
      if (isOut && !isEnded) spec.offer(offer);
      if (isOut && isCancelled) spec.cancel(offer);
    }
    this.#scopes.available(spec.tools);
    return (went) => {
      if (executor.spec !== spec) return;
      if (went === undefined) this.#away(executor);
      else this.#end(executor, went);
    };
  }

  #at(owner: string): Executor {
    const known = this.#known.get(owner);
    if (known !== undefined) return known;
    const executor: Executor = { owner, entries: new Map(), spec: undefined, callOff: undefined };
    this.#known.set(owner, executor);
    return executor;
  }

  /** Takes away the runs of an executor in scopes that it does not serve any more: it has released them. */
  #disown({ owner, entries }: Executor, { serves }: ExecutorSpec): void {
    const theirs = [...entries.values()].filter(({ offer }) => !serves(offer.scope));
    for (const { offer } of theirs) entries.delete(keyOf(offer));
    const live = theirs.filter(({ isEnded }) => !isEnded);
    for (const scope of new Set(live.map(({ offer }) => offer.scope))) this.#scopes.lost(scope, owner, "released");
  }

  /** Starts the lease of a lost connection. An executor that had nothing is forgotten at once. */
  #away(executor: Executor): void {
    executor.spec = undefined;
    if (executor.entries.size === 0) return void this.#known.delete(executor.owner);
    executor.callOff ??= this.#platform.later(this.#leaseMs, () => this.#lose(executor, "lost"));
  }

  #end(executor: Executor, went: ExecutorEnd): void {
    executor.spec = undefined;
    executor.callOff?.();
    this.#lose(executor, went);
  }

  #lose({ owner, entries }: Executor, went: ExecutorEnd): void {
    this.#known.delete(owner);
    const live = [...entries.values()].filter(({ isEnded }) => !isEnded);
    for (const scope of new Set(live.map(({ offer }) => offer.scope))) this.#scopes.lost(scope, owner, went);
  }

  /** Picks the connected executor with the fewest runs. */
  pick(scope: string, toolId: string): string | undefined {
    let least: { readonly owner: string; readonly load: number } | undefined;
    for (const { owner, spec, entries } of this.#known.values()) {
      if (spec === undefined || !spec.tools.includes(toolId) || !spec.serves(scope)) continue;
      if (least === undefined || entries.size < least.load) least = { owner, load: entries.size };
    }
    return least?.owner;
  }

  /** Reserves a run for an executor, until its owner is on record. */
  hold(owner: string, offer: Offer): void {
    this.#at(owner).entries.set(keyOf(offer), { offer, isOut: false, isCancelled: false, isEnded: false });
  }

  give(owner: string, run: OfferedRun): void {
    const executor = this.#known.get(owner);
    const entry = executor?.entries.get(keyOf(run));
    if (executor === undefined || entry === undefined) return;
    entry.isOut = true;
    executor.spec?.offer(entry.offer);
    if (entry.isCancelled) executor.spec?.cancel(run);
  }

  /**
   * A log says that this is an executor's. One that is here may not have heard of it; one that nobody has seen here has
   * its whole lease to come back.
   */
  adopt(owner: string, offer: Offer): void {
    const executor = this.#at(owner);
    if (executor.spec?.serves(offer.scope) === false) return this.#scopes.lost(offer.scope, owner, "released");
    const key = keyOf(offer);
    if (!executor.entries.has(key)) {
      executor.entries.set(key, { offer, isOut: true, isCancelled: false, isEnded: false });
      executor.spec?.offer(offer);
    }
    if (executor.spec === undefined) this.#away(executor);
  }

  cancel(run: OfferedRun): void {
    for (const { spec, entries } of this.#known.values()) {
      const entry = entries.get(keyOf(run));
      if (entry === undefined) continue;
      entry.isCancelled = true;
      if (entry.isOut) spec?.cancel(run);
    }
  }

  /** Takes note that a call has ended: nothing that was offered of it is needed. */
  ended(scope: string, call: string): void {
    for (const { entries } of this.#known.values()) {
      const ended = [...entries.values()].filter(({ offer, isEnded }) => isEnded || isOf(offer, scope, call));
      for (const entry of ended) entry.isEnded = true;
      for (const { offer } of ended.slice(0, Math.max(0, ended.length - maxEnded))) entries.delete(keyOf(offer));
    }
  }

  /** Says whether an executor has a run, and nothing has ended it. */
  runs(owner: string, run: OfferedRun): boolean {
    const entry = this.#known.get(owner)?.entries.get(keyOf(run));
    return entry !== undefined && entry.isOut && !entry.isEnded;
  }

  /** Takes a run from its executor, and says whether it had it. */
  release(owner: string, run: OfferedRun): boolean {
    return this.#known.get(owner)?.entries.delete(keyOf(run)) ?? false;
  }

  /** Forgets the runs of a scope that another instance owns. */
  forget(scope: string): void {
    for (const { entries } of this.#known.values())
      for (const [key, { offer }] of entries) if (offer.scope === scope) entries.delete(key);
  }
}

const isOf = (offer: Offer, scope: string, call: string): boolean => offer.scope === scope && offer.call === call;

interface ExecutorVerbsPort {
  readonly platform: Platform;
  readonly leaseMs: number;
  readonly scope: (scope: string) => Promise<Session>;
  readonly open: () => Iterable<string>;
}

/** Tells that an executor is not connected; or, with how it went, that it will not come back. */
export type Leave = (went?: ExecutorEnd) => void;

export class ExecutorVerbs {
  readonly #port: ExecutorVerbsPort;
  readonly all: Executors;

  constructor(port: ExecutorVerbsPort) {
    this.#port = port;
    this.all = new Executors(port.platform, port.leaseMs, {
      lost: (scope, owner, went) => void this.#withOffers(scope, (offers) => offers.lost(owner, went)),
      available: (tools) => {
        for (const scope of port.open()) void this.#withOffers(scope, (offers) => offers.available(tools));
      },
    });
  }

  /** Acts on the offers of a scope. One that cannot be opened now is left to whoever opens it next, from its log. */
  async #withOffers(scope: string, then: (offers: Offers) => void): Promise<void> {
    const session = await this.#port.scope(scope).catch(() => undefined);
    if (session !== undefined && !session.runner.isAbandoned) then(session.offers);
  }

  register(executor: ExecutorSpec): Leave {
    return this.all.register(executor);
  }

  async settle(executor: string, settlement: Settlement): Promise<Settled> {
    return (await this.#port.scope(settlement.scope)).offers.settle(`executor:${executor}`, settlement);
  }

  async progress(executor: string, run: OfferedRun, said: ProgressSaid): Promise<void> {
    const own = `executor:${executor}`;
    if (!this.all.runs(own, run)) return; // Not its own.
    (await this.#port.scope(run.scope)).offers.progress(own, run, said);
  }
}
