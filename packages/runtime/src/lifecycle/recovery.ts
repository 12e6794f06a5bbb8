/**
 * Recovery of abandoned scopes: their owner is gone, and they have outstanding commands, a passed deadline, or messages. A live
 * instance opens them, up to a number at each beat of its lease, the longest waiting first.
 */
import { newestProtocol } from "@pawl/sansio-core/driver";
import { isRace } from "../error.ts";
import type { Claim, Journal } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";

/** A scope that was claimed because it is due. */
export interface ClaimedDue {
  readonly scope: string;
  readonly claim: Extract<Claim, { readonly type: "claimed" }>;
}

interface RecoveryPort {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly instance: string;
  readonly open: (scope: string, claim?: ClaimedDue["claim"]) => Promise<unknown>;
  /** Scopes that need no recovery. */
  readonly isOpen: { readonly has: (scope: string) => boolean; readonly size: number };
  /** Returns whether the instance takes scopes: it has its lease, and does not drain. */
  readonly mayOpen: () => boolean;
  /** Delivers messages of inboxes that no instance polls. */
  readonly collect: () => Promise<void>;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** The number of scopes that one beat opens; after a full beat the next follows soon. */
const most = 256;
const soonMs = 1000;
/** The number of scopes that are claimed together. Several instances share what one of them has left. */
const claimedAtOnce = 64;

/** Backs off after a failed open: ten times as long after each failure. */
const putOffMs = (failures: number): number => Math.min(3_600_000, 1000 * 10 ** failures);

interface PutOff {
  readonly until: number;
  readonly failures: number;
}

export class Recovery {
  readonly #port: RecoveryPort;
  readonly #putOff = new Map<string, PutOff>();
  #callOff: (() => void) | undefined;

  constructor(port: RecoveryPort) {
    this.#port = port;
  }

  /** Resolves once all scopes that were found are open. */
  async beat(): Promise<void> {
    this.#callOff?.();
    const [taken] = await Promise.all([this.#takeUp(), this.#port.collect()]);
    if (taken < most) return;
    this.#callOff = this.#port.platform.later(soonMs, this.go);
  }

  /** Starts a beat, and reports its failure. */
  readonly go = (): void => void this.beat().catch(this.#fault);

  readonly #fault = (thrown: unknown): void => this.#port.fault("what is due was not found", thrown);

  /** Claims scopes that are due, many at once, and opens them, until no more are. */
  async #claimDue(): Promise<void> {
    const { journal, platform, instance, mayOpen } = this.#port;
    const { claimDue } = journal;
    if (claimDue === undefined) return;
    for (let claimed = claimedAtOnce; claimed === claimedAtOnce && mayOpen();) {
      const claims = await claimDue(instance, newestProtocol, platform.now(), claimedAtOnce);
      await Promise.all(claims.map(({ scope, claim }) => this.#open(scope, claim)));
      claimed = claims.length;
    }
  }

  /** Opens what is due: first what is claimed in one round trip, then the rest, such as scopes that it has and that are not open. */
  async #takeUp(): Promise<number> {
    await this.#claimDue();
    const { journal, platform, instance, isOpen } = this.#port;
    const now = platform.now();
    const asked = most + isOpen.size + this.#putOff.size;
    const due = await journal.due(now, instance, asked);
    if (due.length < asked) this.#keepOnly(due);
    const wanted = due.filter((scope) => !isOpen.has(scope) && !this.#isPutOff(scope)).slice(0, most);
    await Promise.all(wanted.map((scope) => this.#open(scope)));
    return wanted.length;
  }

  /** The number of scopes that wait for their next try. */
  get putOff(): number {
    return this.#putOff.size;
  }

  /** Forgets scopes that are not due any more: they have another owner, or are gone. */
  #keepOnly(due: readonly string[]): void {
    if (this.#putOff.size === 0) return;
    const isDue = new Set(due);
    for (const scope of this.#putOff.keys()) if (!isDue.has(scope)) this.#putOff.delete(scope);
  }

  #isPutOff(scope: string): boolean {
    const { until = -Infinity } = this.#putOff.get(scope) ?? {};
    return this.#port.platform.monotonic() < until;
  }

  async #open(scope: string, claim?: ClaimedDue["claim"]): Promise<void> {
    const { open, platform, fault } = this.#port;
    try {
      await open(scope, claim);
      this.#putOff.delete(scope);
    } catch (thrown) {
      if (isRace(thrown)) return;
      const failures = this.#putOff.get(scope)?.failures ?? 0;
      this.#putOff.set(scope, { until: platform.monotonic() + putOffMs(failures), failures: failures + 1 });
      fault(`${scope} was not taken up`, thrown);
    }
  }
}
