/**
 * A place for code that only some logs need. What is decided there is as pure as the rest of the core: only when the
 * code is at hand differs. Everywhere but in bundles for pages it is there from the start; in a page whoever drives a
 * scope fills the slot before the first event that needs it.
 */
import { NotLoaded } from "@pawl/tool-value";

export class Slot<A> {
  readonly #name: string;
  #code: A | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  get isFilled(): boolean {
    return this.#code !== undefined;
  }

  get code(): A {
    if (this.#code !== undefined) return this.#code;
    throw new NotLoaded(`the code for ${this.#name} is not loaded: fill its slot before such an event comes`);
  }

  /** The same, filled. */
  with(code: A): this {
    this.#code = code;
    return this;
  }
}
