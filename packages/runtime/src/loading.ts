/** A part of the program that may have to be loaded first; one that could not be is asked for again the next time. */
export class Part<A> {
  readonly #load: () => Promise<A>;
  #loaded: A | undefined;

  constructor(load: () => Promise<A>, loaded?: A) {
    this.#load = load;
    this.#loaded = loaded;
  }

  /** As it is now. */
  get loaded(): A | undefined {
    return this.#loaded;
  }

  async load(): Promise<A> {
    return (this.#loaded ??= await this.#load());
  }
}
