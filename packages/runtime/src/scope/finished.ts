/** What has left the state: as the store's finished index says it, and what was stepped since and it may not say yet. */
import type { Finished } from "@pawl/sansio-core";

type Kind = Finished["kind"];

const place = (kind: Kind, id: string): string => `${kind} ${id}`;

/** Of a scope that began in this life all is known without the store, as long as it is no more than this. */
const mostKnown = 512;

export class FinishedIndex {
  readonly #find: (kind: Kind, id: string) => Promise<number | undefined>;
  readonly #durable: () => number;
  /** By kind and id: the event that finished it, and the one with which it left. */
  readonly #recent = new Map<string, { readonly seq: number; readonly left: number }>();
  #knowsAll: boolean;
  #lookups = 0;

  constructor(
    find: (kind: Kind, id: string) => Promise<number | undefined>,
    durable: () => number,
    scope: { readonly isNew: boolean },
  ) {
    this.#find = find;
    this.#durable = durable;
    this.#knowsAll = scope.isNew;
  }

  /** An event has been stepped, and this left the state with it. */
  note(finished: readonly Finished[], left: number): void {
    if (finished.length === 0) return;
    for (const { kind, id, seq = left } of finished) {
      this.#recent.delete(place(kind, id));
      this.#recent.set(place(kind, id), { seq, left });
    }
    if (this.#recent.size > mostKnown) this.#knowsAll = false;
    if (!this.#knowsAll && this.#lookups === 0) this.#forget();
  }

  /** What is durable the store says itself. */
  #forget(): void {
    const durable = this.#durable();
    for (const [id, { left }] of this.#recent) {
      if (left > durable) return;
      this.#recent.delete(id);
    }
  }

  /** Looks something up and goes on with it at once, so that nothing can finish between the answer and what follows. */
  async lookup<A>(kind: Kind, id: string, then: (seq: number | undefined) => A): Promise<A> {
    this.#lookups += 1;
    try {
      const recent = this.#recent.get(place(kind, id));
      if (recent !== undefined || this.#knowsAll) return then(recent?.seq);
      const stored = await this.#find(kind, id);
      return then(this.#recent.get(place(kind, id))?.seq ?? stored);
    } finally {
      this.#lookups -= 1;
    }
  }

  find(kind: Kind, id: string): Promise<number | undefined> {
    return this.lookup(kind, id, (seq) => seq);
  }
}
