/** News of scopes: whichever tab writes, those that follow a scope hear when its log has grown. */
import type { TabMessage } from "./message.ts";

/** Where others tell of it. */
interface Heard {
  readonly hear: (hearer: (message: TabMessage) => void) => void;
}

interface Waiter {
  readonly scope: string;
  readonly wake: () => void;
}

/** How often there was news of a scope. Whoever writes may have more to tell than was announced: a beat is news of all. */
export class News {
  readonly #waiters = new Set<Waiter>();
  readonly #counts = new Map<string, number>();
  #beats = 0;

  constructor(channel: Heard) {
    channel.hear((message) => {
      if (message.type === "appended") this.#told(message.scope);
      if (message.type === "beat") this.wakeAll();
    });
  }

  count(scope: string): number {
    return this.#beats + (this.#counts.get(scope) ?? 0);
  }

  #told(scope: string): void {
    this.#counts.set(scope, (this.#counts.get(scope) ?? 0) + 1);
    this.#wake((waiter) => waiter.scope === scope);
  }

  wakeAll(): void {
    this.#beats += 1;
    this.#wake(() => true);
  }

  #wake(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!isMeant(waiter)) continue;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
  }

  /** Resolves when there was news of a scope after so much of it. */
  after(count: number, scope: string): Promise<void> {
    if (this.count(scope) !== count) return Promise.resolve();
    return new Promise((wake) => void this.#waiters.add({ scope, wake }));
  }
}
