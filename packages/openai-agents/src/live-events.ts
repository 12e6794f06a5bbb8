/** Events of an answer on their way to the runner: at once while it only shows them, and the rest once all is on record. */
export class LiveEvents<E> {
  readonly #isOnlyShown: (event: E) => boolean;
  readonly #stop = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #events: E[] = [];
  /** Counts the events on record that were handed on. */
  #count = 0;
  #isHeld = false;
  #end: { readonly thrown?: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(isOnlyShown: (event: E) => boolean) {
    this.#isOnlyShown = isOnlyShown;
  }

  /** Aborted when the runner wants no more of it. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  say(event: E, isOnRecord: boolean): void {
    this.#isHeld ||= !this.#isOnlyShown(event);
    if (this.#isHeld) return;
    this.#events.push(event);
    if (isOnRecord) this.#count += 1;
    this.#wake();
  }

  /** Hands on the rest: all of it is on record. */
  end(events: readonly E[], end: { readonly thrown?: unknown }): void {
    this.#events.push(...events.slice(this.#count));
    this.#end = end;
    this.#over.resolve();
    this.#wake();
  }

  async *read(): AsyncGenerator<E> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event !== undefined) yield event;
        else if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if ("thrown" in this.#end) throw this.#end.thrown;
        else return;
      }
    } finally {
      if (this.#end === undefined) {
        this.#stop.abort();
        await this.#over.promise; // What the program does next follows from what is on record.
      }
    }
  }
}
