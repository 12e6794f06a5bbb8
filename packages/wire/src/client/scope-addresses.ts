/** An LRU cache of the addresses of scopes that live with another host. A scope that was evicted is asked for at home again. */

/** One entry takes some 200 bytes. */
const defaultCapacity = 10_000;

export class ScopeAddresses {
  readonly #capacity: number;
  /** In order of use: the most recent entry is last. */
  readonly #addresses = new Map<string, string>();

  constructor(capacity = defaultCapacity) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#addresses.size;
  }

  get(scope: string): string | undefined {
    const address = this.#addresses.get(scope);
    if (address !== undefined) this.set(scope, address);
    return address;
  }

  set(scope: string, address: string): void {
    this.#addresses.delete(scope);
    this.#addresses.set(scope, address);
    if (this.#addresses.size <= this.#capacity) return;
    const [oldest] = this.#addresses.keys();
    if (oldest !== undefined) this.#addresses.delete(oldest);
  }

  delete(scope: string): void {
    this.#addresses.delete(scope);
  }

  deleteAllAt(address: string): void {
    for (const [scope, at] of this.#addresses) if (at === address) this.#addresses.delete(scope);
  }
}
