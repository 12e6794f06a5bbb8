/** Those who wait until a scope's state says something: each is told once, of what is durable. */

interface Watcher {
  readonly look: () => boolean;
  readonly reject: (error: Error) => void;
}

export class Watch {
  #watchers: Watcher[] = [];

  get isEmpty(): boolean {
    return this.#watchers.length === 0;
  }

  /** What `read` finds, as soon as it finds anything. */
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

  /** Something may have come true. */
  look(): void {
    this.#watchers = this.#watchers.filter((watcher) => !watcher.look());
  }

  abandon(error: Error): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const { reject } of watchers) reject(error);
  }
}
