/**
 * The life of a driver instance: its lease, and its shutdown. The instance joins at the start, and renews its lease after each
 * third of its time. This side always counts less time than the store grants. It counts by its own monotonic clock, from before
 * the request, and subtracts a tenth as a margin. With its lease the instance loses every scope; it then joins again, and
 * claims.
 *
 * Those who watch a host ask two questions, without a token: does it live (`/v1/health`), and is it to be sent work
 * (`/v1/ready`). The first asks nothing of the store: a host whose store is away is not helped by a restart. The second
 * is no while the host drains, so that a load balancer sends new clients to the others.
 */
import { newestProtocol } from "@pawl/sansio-core/driver";
import type { Journal, Lease } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";
import { Refused } from "../error.ts";

interface LeasePort {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly instance: string;
  readonly lease: Lease;
  /** Called when the lease has run out: others may own the scopes now. */
  readonly lost: () => void;
  /** Called after each join and renewal. Recovery looks for abandoned scopes then. */
  readonly held: () => void;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** Joins, if the options ask for a lease. */
export const heldLease = (
  { journal, instance, lease }: Pick<LeasePort, "journal" | "instance"> & { readonly lease?: Lease },
  around: Omit<LeasePort, "journal" | "instance" | "lease">,
): HeldLease | undefined => (lease === undefined ? undefined : new HeldLease({ journal, instance, lease, ...around }));

const marginOf = (ttlMs: number): number => ttlMs / 10;

export class HeldLease {
  readonly #port: LeasePort;
  /** The end of the lease, by the monotonic clock. */
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

  /** Resolves once joined. Rejects if the last try failed; another follows. */
  get joined(): Promise<void> {
    return this.#joined;
  }

  /** Returns whether the lease surely holds now. */
  get holds(): boolean {
    return this.#port.platform.monotonic() < this.#until;
  }

  /** Stops renewals. */
  stop(): void {
    this.#isOver = true;
    this.#until = -Infinity;
    this.#callOff?.();
  }

  /** Announces the address of this instance, unless the lease names another. */
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
    const held = { ttlMs, protocol: newestProtocol };
    await journal.join(instance, this.#address === undefined ? held : { ...held, address: this.#address });
    this.#holdFrom(from);
  }

  /** Joins, and tries again after a failure. Callers that open a scope see the failure as well. */
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

  /** Renews the lease. Returns undefined if the store does not answer. */
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

/** Says whether a runtime takes new work. A host is sent none while it is not `ready`. */
export type Readiness = "ready" | "no_lease" | "draining" | "closed";

const closing = (): Refused => new Refused("closing", "this runtime is closed, or about to be");

/** Admits new work until it is closed. While it drains, it takes no scope that it does not have. */
export class Shutdown {
  #phase: Extract<Readiness, "ready" | "draining" | "closed"> = "ready";

  get phase(): "ready" | "draining" | "closed" {
    return this.#phase;
  }

  /** Returns the refusal of new work after `close`. */
  get refusal(): Refused | undefined {
    return this.#phase === "closed" ? closing() : undefined;
  }

  /** Returns the refusal of scopes that are not in memory. */
  get opening(): Refused | undefined {
    return this.#phase === "ready" ? undefined : closing();
  }

  /** Throws after `close`. */
  pass(): void {
    const { refusal } = this;
    if (refusal !== undefined) throw refusal;
  }

  drain(): void {
    if (this.#phase === "ready") this.#phase = "draining";
  }

  close(): void {
    this.#phase = "closed";
  }
}

export interface HealthAnswer {
  readonly status: 200 | 405 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

const paths: readonly string[] = ["/v1/health", "/v1/ready"];
const methods: readonly string[] = ["GET", "HEAD"];

const answer = (status: HealthAnswer["status"], said: object, more: HealthAnswer["headers"] = {}): HealthAnswer => ({
  status,
  headers: { "content-type": "application/json", "cache-control": "no-store", ...more },
  body: `${JSON.stringify(said)}\n`,
});

/** Answers a request for one of the two paths; undefined for any other path. */
export const healthAnswer = (
  method: string | undefined,
  path: string,
  { readiness }: { readonly readiness: Readiness },
): HealthAnswer | undefined => {
  if (!paths.includes(path)) return undefined;
  if (!methods.includes(method ?? "")) {
    const error = `${path} is asked by GET, received ${method ?? "no method"}`;
    return answer(405, { error }, { allow: methods.join(", ") });
  }
  const isClosed = readiness === "closed";
  if (path === "/v1/health") return answer(isClosed ? 503 : 200, { status: isClosed ? "closed" : "ok" });
  return readiness === "ready"
    ? answer(200, { status: readiness })
    : answer(503, { status: readiness }, { "retry-after": "1" });
};
