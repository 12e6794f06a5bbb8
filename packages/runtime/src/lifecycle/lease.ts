/**
 * The lease of one driver instance: joined at the start, renewed every third of its time. What this side believes of it
 * is always less than what the store grants: it counts from before it asked, by its own monotonic clock, and a tenth of
 * the time is kept as a margin. When the lease is gone, so is every scope of the instance; it joins again, and claims.
 */
import type { Journal, Lease } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";

export interface LeasePort {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly instance: string;
  readonly lease: Lease;
  /** The lease has run out: whatever the instance owned may be another's. */
  readonly lost: () => void;
  /** It was joined or renewed: a good time to look for what nobody looks after. */
  readonly held: () => void;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** The lease of an instance that is to have one. */
export const heldLease = (
  { journal, instance, lease }: Pick<LeasePort, "journal" | "instance"> & { readonly lease?: Lease },
  around: Omit<LeasePort, "journal" | "instance" | "lease">,
): HeldLease | undefined => (lease === undefined ? undefined : new HeldLease({ journal, instance, lease, ...around }));

const marginOf = (ttlMs: number): number => ttlMs / 10;

export class HeldLease {
  readonly #port: LeasePort;
  /** By the monotonic clock. */
  #until = -Infinity;
  #isOver = false;
  #callOff: (() => void) | undefined;
  #joined: Promise<void>;
  #address: string | undefined;

  constructor(port: LeasePort) {
    this.#port = port;
    this.#address = port.lease.address;
    this.#joined = this.#begin();
  }

  /** Resolves when it has joined. Fails where that has just failed: it is tried again. */
  get joined(): Promise<void> {
    return this.#joined;
  }

  /** Whether it surely holds now. */
  get holds(): boolean {
    return this.#port.platform.monotonic() < this.#until;
  }

  /** Renews it no more. */
  stop(): void {
    this.#isOver = true;
    this.#until = -Infinity;
    this.#callOff?.();
  }

  /** Others are told of this place, unless the lease names another. */
  async reachedAt(address: string): Promise<void> {
    if (this.#address !== undefined) return;
    this.#address = address;
    await this.joined;
    if (this.holds) await this.#take();
  }

  async #take(): Promise<void> {
    const { journal, platform, instance, lease } = this.#port;
    const from = platform.monotonic();
    const { ttlMs } = lease;
    await journal.join(instance, this.#address === undefined ? { ttlMs } : { ttlMs, address: this.#address });
    this.#holdFrom(from);
  }

  /** Whoever opens a scope hears of a failure, too. */
  #begin(): Promise<void> {
    const { lease, platform, fault } = this.#port;
    const joined = this.#join();
    joined.catch((thrown: unknown) => {
      if (this.#isOver) return;
      fault("no lease could be had", thrown);
      this.#callOff = platform.later(marginOf(lease.ttlMs), () => (this.#joined = this.#begin()));
    });
    return joined;
  }

  async #join(): Promise<void> {
    await this.#take();
    this.#next(this.#port.lease.ttlMs / 3);
    if (!this.#isOver) this.#port.held();
  }

  #holdFrom(from: number): void {
    const { ttlMs } = this.#port.lease;
    if (!this.#isOver) this.#until = from + ttlMs - marginOf(ttlMs);
  }

  #next(ms: number): void {
    if (this.#isOver) return;
    this.#callOff = this.#port.platform.later(ms, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { platform, lease } = this.#port;
    const from = platform.monotonic();
    const isHeld = await this.#ask();
    if (this.#isOver) return;
    if (isHeld === true) {
      this.#holdFrom(from);
      this.#next(lease.ttlMs / 3);
      return this.#port.held();
    }
    if (isHeld === undefined && this.holds) return this.#next(marginOf(lease.ttlMs));
    this.#until = -Infinity;
    this.#port.lost();
    this.#joined = this.#begin();
  }

  /** Nothing is known where the store does not answer. */
  async #ask(): Promise<boolean | undefined> {
    const { journal, instance, fault } = this.#port;
    try {
      return await journal.renew(instance);
    } catch (thrown) {
      fault("the lease could not be renewed", thrown);
      return undefined;
    }
  }
}
