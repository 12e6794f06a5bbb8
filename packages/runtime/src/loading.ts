/** A part of the program that may have to be loaded first; one that could not be is asked for again the next time. */
import { NotLoaded } from "@pawl/tool-value";

export class Part<A> {
  readonly #load: () => Promise<A>;
  #loaded: A | undefined;
  #loading: Promise<A> | undefined;
  /** How many wait to do something with it. */
  #waiting = 0;

  constructor(load: () => Promise<A>, loaded?: A) {
    this.#load = load;
    this.#loaded = loaded;
  }

  /** As it is now. */
  get loaded(): A | undefined {
    return this.#loaded;
  }

  /** For what only comes up where it has been loaded. */
  get atHand(): A {
    if (this.#loaded !== undefined) return this.#loaded;
    throw new NotLoaded("a part of the program is not loaded: load it before what needs it");
  }

  load(): Promise<A> {
    if (this.#loaded !== undefined) return Promise.resolve(this.#loaded);
    this.#loading ??= this.#load().then(
      (part) => (this.#loaded = part),
      (thrown: unknown) => {
        this.#loading = undefined;
        throw thrown;
      },
    );
    return this.#loading;
  }

  /** Does something with it: at once where it is there, and always in the order in which it is asked. */
  use<B>(act: (part: A) => Promise<B>): Promise<B> {
    if (this.#loaded !== undefined && this.#waiting === 0) return act(this.#loaded);
    this.#waiting += 1;
    return this.load().then(
      (part) => {
        this.#waiting -= 1;
        return act(part);
      },
      (thrown: unknown) => {
        this.#waiting -= 1;
        throw thrown;
      },
    );
  }
}
