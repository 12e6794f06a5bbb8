/** A body stands still while code is loaded that it has asked for: what its program does meanwhile is done after that. */
export interface StillnessPort {
  /** There may be something to deliver. */
  readonly stir: () => void;
  /** What it stands still for will not come. */
  readonly fail: (thrown: unknown) => void;
}

export class Stillness {
  readonly #port: StillnessPort;
  #held: (() => void)[] | undefined;
  #until: Promise<void> | undefined;

  constructor(port: StillnessPort) {
    this.#port = port;
  }

  get isStill(): boolean {
    return this.#held !== undefined;
  }

  /** Resolves when it goes on. */
  get until(): Promise<void> | undefined {
    return this.#until;
  }

  begin(ready: Promise<unknown>): void {
    if (this.#held !== undefined) return;
    this.#held = [];
    this.#until = ready.then(
      () => this.#goOn(),
      (thrown: unknown) => this.#port.fail(thrown),
    );
  }

  #goOn(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const act of held) act();
    this.#port.stir();
  }

  /** Does what the program does, after all that it did before. */
  inOrder(act: () => void): void {
    if (this.#held === undefined) act();
    else this.#held.push(act);
  }
}
