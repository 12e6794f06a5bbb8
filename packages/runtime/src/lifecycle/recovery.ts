/**
 * Scopes that nobody looks after any more: their owner is gone, and they have something outstanding, a deadline that
 * has passed, or mail. They are taken up by whoever lives, so many at a beat, the ones that wait longest first.
 */
import { OwnedElsewhere, ScopeLost, ScopeMoved, ScopeMoving } from "../error.ts";
import type { Journal } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";

export interface RecoveryPort {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly instance: string;
  readonly open: (scope: string) => Promise<unknown>;
  /** Scopes that are in memory: they look after themselves. */
  readonly isOpen: { readonly has: (scope: string) => boolean; readonly size: number };
  /** Takes the mail that lies where nobody looks. */
  readonly collect: () => Promise<void>;
  readonly fault: (what: string, thrown: unknown) => void;
}

/** How many scopes are taken up at a beat; a full one is soon followed by the next. */
const most = 256;
const soonMs = 1000;

/** How long a scope that could not be opened is left alone: ten times as long after each failure. */
const putOffMs = (failures: number): number => Math.min(3_600_000, 1000 * 10 ** failures);

/** It is another's, or on its way; or its next owner goes on with it. */
const isOthers = (thrown: unknown): boolean =>
  [OwnedElsewhere, ScopeMoved, ScopeMoving, ScopeLost].some((kind) => thrown instanceof kind);

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

  /** Resolves when all that was found is open. */
  async beat(): Promise<void> {
    this.#callOff?.();
    const [taken] = await Promise.all([this.#takeUp(), this.#port.collect()]);
    if (taken < most) return;
    this.#callOff = this.#port.platform.later(soonMs, this.go);
  }

  /** As a beat that nobody waits for. */
  readonly go = (): void => void this.beat().catch(this.#fault);

  readonly #fault = (thrown: unknown): void => this.#port.fault("what is due was not found", thrown);

  async #takeUp(): Promise<number> {
    const { journal, platform, instance, isOpen } = this.#port;
    const now = platform.now();
    const asked = most + isOpen.size + this.#putOff.size;
    const due = await journal.due(now, instance, asked);
    if (due.length < asked) this.#keepOnly(due);
    const wanted = due.filter((scope) => !isOpen.has(scope) && !this.#isPutOff(scope)).slice(0, most);
    await Promise.all(wanted.map((scope) => this.#open(scope)));
    return wanted.length;
  }

  /** How many are left alone. */
  get putOff(): number {
    return this.#putOff.size;
  }

  /** Who is not due any more has found another owner, or is gone. */
  #keepOnly(due: readonly string[]): void {
    if (this.#putOff.size === 0) return;
    const isDue = new Set(due);
    for (const scope of this.#putOff.keys()) if (!isDue.has(scope)) this.#putOff.delete(scope);
  }

  #isPutOff(scope: string): boolean {
    const { until = -Infinity } = this.#putOff.get(scope) ?? {};
    return this.#port.platform.monotonic() < until;
  }

  async #open(scope: string): Promise<void> {
    const { open, platform, fault } = this.#port;
    try {
      await open(scope);
      this.#putOff.delete(scope);
    } catch (thrown) {
      if (isOthers(thrown)) return;
      const failures = this.#putOff.get(scope)?.failures ?? 0;
      this.#putOff.set(scope, { until: platform.monotonic() + putOffMs(failures), failures: failures + 1 });
      fault(`${scope} was not taken up`, thrown);
    }
  }
}
