/** Where scopes were found that do not live at home: those that were asked for last. For the others home is asked again. */

/** A scope and its address take some 200 bytes. */
const usualMost = 10_000;

export class Whereabouts {
  readonly #most: number;
  /** The one that was asked for last stands last. */
  readonly #addresses = new Map<string, string>();

  constructor(most = usualMost) {
    this.#most = most;
  }

  get size(): number {
    return this.#addresses.size;
  }

  of(scope: string): string | undefined {
    const address = this.#addresses.get(scope);
    if (address !== undefined) this.found(scope, address);
    return address;
  }

  found(scope: string, address: string): void {
    this.#addresses.delete(scope);
    this.#addresses.set(scope, address);
    if (this.#addresses.size <= this.#most) return;
    const [oldest] = this.#addresses.keys();
    if (oldest !== undefined) this.#addresses.delete(oldest);
  }

  forget(scope: string): void {
    this.#addresses.delete(scope);
  }

  /** Nobody is asked there any more. */
  leave(address: string): void {
    for (const [scope, at] of this.#addresses) if (at === address) this.#addresses.delete(scope);
  }
}
