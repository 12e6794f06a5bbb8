/**
 * Queues: the part of a store that lets so many calls begin and no more, over all processes that share it. A call stands in
 * line until it has a place, and has the place until it leaves.
 *
 *   wanted ──advance──▶ waiting ──advance──▶ has its place ──leave──▶ gone
 *                          └── the lease of its instance ends: gone ──┘
 *
 * Order: by priority, the higher first. Among equals sessions take turns (self-clocked fair queueing): a call gets the turn
 * after the last one that began, or after the last of its own session that stands in line, whichever is later. So a session
 * with a thousand calls delays another's first one by one call, and nobody waits for ever. Calls of one turn go by age.
 *
 * Nobody is overtaken: the first places belong to the first in line, also while their instance has not asked yet. A place
 * counts as long as the lease of its instance holds. What a rate counted goes on counting until its time is over.
 */

/** How many calls of a queue may have a place at a time, and how many may begin in a second. */
export interface Limit {
  readonly concurrency?: number;
  readonly perSecond?: number;
}

/** Names a place: the call with its attempt, in its scope. */
export interface PlaceId {
  readonly scope: string;
  readonly call: string;
}

export interface WantedPlace extends PlaceId, Limit {
  readonly queue: string;
  /** The higher, the sooner. */
  readonly priority: number;
  /** The time since which the call waits. */
  readonly since: number;
}

export interface Advanced {
  /** Places that this instance has got in this round. */
  readonly granted: readonly PlaceId[];
  /** Milliseconds until a rate may let the next one begin, where one holds somebody up. */
  readonly againMs?: number;
}

/** Where a call stands: so many wait before it; without the number it has its place. */
export interface Standing extends PlaceId {
  readonly queue: string;
  readonly before?: number;
}

export interface QueueStore {
  /**
   * Puts calls in line, and takes the free places of these queues that are this instance's turn. The same round again answers
   * the same places: an answer may be lost. Round 0 begins: what the instance had before is gone. Calls of scopes that are
   * another's are left out.
   */
  readonly advance: (
    instance: string,
    round: number,
    queues: readonly string[],
    wanted: readonly WantedPlace[],
  ) => Promise<Advanced>;
  /** Gives up places, or the wish for them. */
  readonly leave: (instance: string, places: readonly PlaceId[]) => Promise<void>;
  /** Lists the calls of a scope that wait or have a place, by name. */
  readonly standing: (scope: string) => Promise<readonly Standing[]>;
}

/** The window of a rate, and how many may begin in it: a rate below one has a window of more than a second. */
export const windowOf = (perSecond: number): { readonly most: number; readonly ms: number } => {
  const most = Math.max(1, Math.floor(perSecond));
  return { most, ms: Math.ceil((most * 1000) / perSecond) };
};

interface Place extends WantedPlace {
  readonly owner: string;
  readonly turn: number;
  /** The round in which it was granted; undefined while it waits. */
  round: number | undefined;
  hasLeft: boolean;
  /** Until then a rate counts it. */
  countedUntil: number;
}

const isBefore = (a: Place, b: Place): boolean => {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.turn !== b.turn) return a.turn < b.turn;
  return a.since < b.since;
};

/** One queue in memory: the line in order, and the places that count. */
class Queue {
  /** The turn of the call that began last. */
  #turn = 0;
  readonly line: Place[] = [];
  begun: Place[] = [];

  get isEmpty(): boolean {
    return this.line.length === 0 && this.begun.length === 0;
  }

  /** Puts a call in line, behind those that go before it. */
  enter(wanted: WantedPlace, owner: string): Place {
    const own = [...this.line, ...this.begun].filter(({ scope }) => scope === wanted.scope);
    const turn = Math.max(this.#turn, ...own.map((place) => place.turn)) + 1;
    const place = { ...wanted, owner, turn, round: undefined, hasLeft: false, countedUntil: 0 };
    const at = this.line.findIndex((other) => isBefore(place, other));
    this.line.splice(at === -1 ? this.line.length : at, 0, place);
    return place;
  }

  remove(place: Place, now: number): void {
    const at = this.line.indexOf(place);
    if (at !== -1) this.line.splice(at, 1);
    place.hasLeft = true;
    this.tidy(now);
  }

  tidy(now: number): void {
    this.begun = this.begun.filter(({ hasLeft, countedUntil }) => !hasLeft || countedUntil > now);
  }

  /** Takes the places that are an instance's turn. Returns the time at which a rate lets more begin, if one holds them up. */
  advance(instance: string, round: number, now: number): number | undefined {
    this.tidy(now);
    let held = this.begun.filter(({ hasLeft }) => !hasLeft).length;
    let counted = this.begun.filter(({ countedUntil }) => countedUntil > now).length;
    const granted: Place[] = [];
    let until: number | undefined;
    for (const place of this.line) {
      const { concurrency = Infinity, perSecond } = place;
      const rate = perSecond === undefined ? undefined : windowOf(perSecond);
      if (held >= concurrency) break;
      if (rate !== undefined && counted >= rate.most) {
        until = Math.min(...this.begun.map((one) => one.countedUntil).filter((at) => at > now), now + rate.ms);
        break;
      }
      held += 1;
      counted += rate === undefined ? 0 : 1;
      if (place.owner === instance) granted.push(Object.assign(place, { round, countedUntil: now + (rate?.ms ?? 0) }));
    }
    for (const place of granted) {
      this.line.splice(this.line.indexOf(place), 1);
      this.begun.push(place);
      this.#turn = Math.max(this.#turn, place.turn);
    }
    return until;
  }
}

export interface MemoryQueuesPort {
  readonly now: () => number;
  readonly isAlive: (instance: string) => boolean;
  readonly isOwner: (scope: string, instance: string) => boolean;
}

/** Queues in the memory of one process: for journals in memory, and where no other process shares the store. */
export class MemoryQueues implements QueueStore {
  readonly #port: MemoryQueuesPort;
  readonly #queues = new Map<string, Queue>();
  readonly #places = new Map<string, Place>();

  constructor(port: MemoryQueuesPort) {
    this.#port = port;
  }

  #drop(name: string, place: Place): void {
    const queue = this.#queues.get(place.queue);
    queue?.remove(place, this.#port.now());
    this.#places.delete(name);
    if (queue?.isEmpty === true) this.#queues.delete(place.queue);
  }

  #dropWhere(isGone: (place: Place) => boolean): void {
    for (const [name, place] of this.#places) if (isGone(place)) this.#drop(name, place);
  }

  #enter(wanted: WantedPlace, instance: string): void {
    const name = nameOf(wanted);
    const there = this.#places.get(name);
    if (there?.owner === instance || !this.#port.isOwner(wanted.scope, instance)) return;
    if (there !== undefined) this.#drop(name, there);
    const queue = this.#queues.get(wanted.queue) ?? new Queue();
    this.#queues.set(wanted.queue, queue);
    this.#places.set(name, queue.enter(wanted, instance));
  }

  readonly advance: QueueStore["advance"] = async (instance, round, queues, wanted) => {
    const { now, isAlive } = this.#port;
    this.#dropWhere(({ owner }) => !isAlive(owner) || (round === 0 && owner === instance));
    if (!isAlive(instance)) return { granted: [] };
    for (const one of wanted) this.#enter(one, instance);
    const names = new Set([...queues, ...wanted.map(({ queue }) => queue)]);
    const at = now();
    const untils = [...names].flatMap((name) => this.#queues.get(name)?.advance(instance, round, at) ?? []);
    const granted = [...this.#places.values()].filter((place) => place.owner === instance && place.round === round);
    const ids = granted.filter(({ queue }) => names.has(queue)).map(({ scope, call }) => ({ scope, call }));
    return untils.length === 0 ? { granted: ids } : { granted: ids, againMs: Math.min(...untils) - at };
  };

  readonly leave: QueueStore["leave"] = async (instance, places) => {
    for (const id of places) {
      const place = this.#places.get(nameOf(id));
      if (place?.owner === instance) this.#drop(nameOf(id), place);
    }
  };

  readonly standing: QueueStore["standing"] = async (scope) => {
    const own = [...this.#places.values()].filter((place) => place.scope === scope && this.#port.isAlive(place.owner));
    return own
      .toSorted((a, b) => (a.call < b.call ? -1 : 1))
      .map(({ call, queue, ...place }) => {
        const at =
          this.#queues.get(queue)?.line.findIndex((other) => other.call === call && other.scope === scope) ?? -1;
        return { scope, call, queue, ...(place.round === undefined ? { before: at } : {}) };
      });
  };
}

const nameOf = ({ scope, call }: PlaceId): string => `${scope}\n${call}`;
