/**
 * The calls of this instance that wait for places in queues, and those that have one. The store decides (`QueueStore`); this
 * side asks it in rounds, one at a time, and tells calls when they may begin.
 *
 *   take ──▶ the next round ──▶ granted ──▶ stepped: the call has ended, was suspended, or is in another attempt ──▶ left
 *                  ▲
 *                  └── a call left, somebody else did (`wake`), a rate lets more begin, or the poll
 *
 * A round that failed is asked again under its number, and answers the places that the lost answer had. A place that is granted
 * to a call which does not wait any more is given back.
 */
import type { CallRef, State } from "@pawl/sansio-core";
import { type CallRow, queuedAttempt } from "@pawl/sansio-core/driver";
import { MemoryQueues, type PlaceId, type QueueStore, type WantedPlace } from "../journal/queue.ts";
import type { Platform } from "../platform.ts";
import { type RuntimeOptions, pollMsOf } from "../runtime-options.ts";
import { type ScopePort, ScopePlaces } from "./scope-places.ts";

export interface QueuePlacesPort {
  readonly store: QueueStore;
  readonly platform: Platform;
  readonly instance: string;
  readonly pollMs: number;
  /** Returns whether the instance may ask the store now. */
  readonly mayAsk: () => boolean;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** Makes the places of an instance: in the queues of the store where others share it, and else in queues in memory. */
export const queuePlaces = (
  options: Pick<RuntimeOptions, "journal" | "lease" | "instance" | "pollMs">,
  around: Pick<QueuePlacesPort, "platform" | "mayAsk" | "fault">,
): QueuePlaces => {
  const { journal, lease, instance } = options;
  const own = { now: () => around.platform.now(), isAlive: () => true, isOwner: () => true };
  const store = (lease === undefined ? undefined : journal.queues) ?? new MemoryQueues(own);
  return new QueuePlaces({ store, instance, pollMs: pollMsOf(options), ...around });
};

interface Held {
  readonly queue: string;
  readonly call: CallRef;
  readonly attempt: number;
  /** Absent once the place is granted. */
  begin?: ((hasPlace: boolean) => void) | undefined;
}

/** Returns the attempt for which a call wants a place, or has one. */
const attemptOf = (row: CallRow | undefined): number | undefined =>
  row?.phase === "running" || row?.phase === "resuming" ? row.body.attempt : queuedAttempt(row);

export class QueuePlaces {
  readonly #port: QueuePlacesPort;
  readonly #scopes = new Map<string, Map<string, Held>>();
  #waiting = 0;
  #round = 0;
  #wanted: WantedPlace[] = [];
  #left: PlaceId[] = [];
  #queues = new Set<string>();
  #isAsking = false;
  #isScheduled = false;
  #callOff: (() => void) | undefined;

  constructor(port: QueuePlacesPort) {
    this.#port = port;
  }

  /** Returns the places of one scope. */
  of(scope: ScopePort): ScopePlaces {
    return new ScopePlaces(scope, this);
  }

  /** Resolves with true once the call has its place, and with false when it does not want it any more. */
  take(call: CallRef, attempt: number, wanted: WantedPlace): Promise<boolean> {
    const held = this.#scopes.get(wanted.scope) ?? new Map<string, Held>();
    this.#scopes.set(wanted.scope, held);
    const there = held.get(wanted.call);
    if (there !== undefined && there.begin === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      there?.begin?.(false);
      if (there === undefined) this.#waiting += 1;
      held.set(wanted.call, { queue: wanted.queue, call, attempt, begin: resolve });
      this.#wanted.push(wanted);
      this.#schedule();
    });
  }

  /** Gives back the places of calls that do not run any more. */
  stepped({ scope: { id }, calls }: State): void {
    const held = this.#scopes.get(id);
    if (held === undefined) return;
    for (const [call, one] of held) if (attemptOf(calls.at(one.call)) !== one.attempt) this.#leave(id, call, one);
  }

  /** Gives back all places of a scope that is not in memory any more. */
  forget(scope: string): void {
    for (const [call, one] of this.#scopes.get(scope) ?? []) this.#leave(scope, call, one);
  }

  /** Takes note that the lease was lost, and with it every place. */
  lost(): void {
    for (const scope of this.#scopes.keys()) this.forget(scope);
    this.#round = 0;
    this.#left = [];
    this.#queues.clear();
    this.#callOff?.();
  }

  /** Looks whether places have become free, if calls wait. */
  readonly wake = (): void => {
    if (this.#waiting === 0) return;
    for (const held of this.#scopes.values())
      for (const { begin, queue } of held.values()) if (begin) this.#queues.add(queue);
    this.#schedule();
  };

  #leave(scope: string, call: string, { queue, begin }: Held): void {
    const held = this.#scopes.get(scope);
    held?.delete(call);
    if (held?.size === 0) this.#scopes.delete(scope);
    if (begin !== undefined) this.#waiting -= 1;
    begin?.(false);
    this.#wanted = this.#wanted.filter((wanted) => wanted.scope !== scope || wanted.call !== call);
    this.#left.push({ scope, call });
    this.#queues.add(queue);
    this.#schedule();
  }

  /** Begins a round after this turn, so that calls which come together share it. */
  #schedule(): void {
    if (this.#isScheduled || this.#isAsking) return;
    this.#isScheduled = true;
    this.#port.platform.nextTurn(() => {
      this.#isScheduled = false;
      void this.#ask();
    });
  }

  get #isIdle(): boolean {
    return this.#waiting === 0 && this.#left.length === 0;
  }

  async #ask(): Promise<void> {
    if (this.#isIdle) return;
    if (!this.#port.mayAsk()) return this.#askIn(this.#port.pollMs);
    this.#isAsking = true;
    this.#callOff?.();
    const wanted = this.#wanted.splice(0);
    let againMs = this.#port.pollMs;
    let isFailing = false;
    try {
      againMs = Math.min(againMs, (await this.#advance(wanted)) ?? againMs);
    } catch (thrown) {
      isFailing = true;
      this.#wanted.push(...wanted.filter(({ scope, call }) => this.#scopes.get(scope)?.get(call)?.begin !== undefined));
      this.#port.fault("places in queues could not be asked for", thrown);
    }
    this.#isAsking = false;
    if (this.#isIdle) return;
    if (isFailing) this.#askIn(againMs);
    else if (this.#wanted.length > 0 || this.#left.length > 0 || this.#queues.size > 0) this.#schedule();
    else this.#askIn(againMs);
  }

  /** Asks again later: about all queues, since what was answered may be lost. */
  #askIn(ms: number): void {
    this.#callOff = this.#port.platform.later(Math.max(1, ms), () => {
      this.wake();
      this.#schedule();
    });
  }

  /** Gives places back, and takes those that are free. Returns the time until a rate lets more begin. */
  async #advance(wanted: readonly WantedPlace[]): Promise<number | undefined> {
    const { store, instance } = this.#port;
    await this.#giveBack();
    const queues = [...this.#queues];
    this.#queues.clear();
    if (this.#waiting === 0 && wanted.length === 0) return undefined;
    const round = this.#round;
    const { granted, againMs } = await store.advance(instance, round, queues, wanted);
    if (this.#round === round) this.#round += 1;
    for (const place of granted) this.#granted(place);
    return againMs;
  }

  async #giveBack(): Promise<void> {
    const left = this.#left;
    if (left.length === 0) return;
    this.#left = [];
    try {
      await this.#port.store.leave(this.#port.instance, left);
    } catch (thrown) {
      this.#left.unshift(...left);
      throw thrown;
    }
  }

  #granted(place: PlaceId): void {
    const held = this.#scopes.get(place.scope)?.get(place.call);
    if (held === undefined) return void this.#left.push(place);
    const { begin } = held;
    if (begin === undefined) return;
    held.begin = undefined;
    this.#waiting -= 1;
    begin(true);
  }
}
