/** Executors as the host works with them. Who has none never needs the code for them. */
import type { ProgressMessage } from "./context/progress.ts";
import type { ExecutorSpec, Executors, OfferedRun } from "./executor.ts";
import type { Fault } from "./late-event.ts";
import { late } from "./late-part.ts";
import type { Offers, Settled, Settlement } from "./offer.ts";
import type { Platform } from "./platform.ts";
import type { Session } from "./session.ts";

export interface ExecutorVerbsPort {
  readonly platform: Platform;
  readonly leaseMs: number;
  readonly scope: (scope: string) => Promise<Session>;
  /** Those in memory. */
  readonly open: ReadonlyMap<string, unknown>;
  readonly fault: Fault;
}

/** An executor has left: for as long as its lease, or for ever. */
export type Leave = (forEver?: boolean) => void;

export class ExecutorVerbs {
  readonly #port: ExecutorVerbsPort;
  #made: Executors | undefined;

  constructor(port: ExecutorVerbsPort) {
    this.#port = port;
  }

  /** Made by whoever needs it first, with the code for it. */
  readonly all = (): Executors => {
    const { platform, leaseMs, open } = this.#port;
    return (this.#made ??= new late.atHand.Executors(platform, leaseMs, {
      lost: (scope, owner) => void this.#withOffers(scope, (offers) => offers.lost(owner)),
      available: (tools) => {
        for (const scope of open.keys()) void this.#withOffers(scope, (offers) => offers.available(tools));
      },
    }));
  };

  /** Whoever opens a scope next learns of its executors from the log: one that can not be opened now is left to them. */
  async #withOffers(scope: string, then: (offers: Offers) => void): Promise<void> {
    const session = await this.#port.scope(scope).catch(() => undefined);
    if (session !== undefined && !session.runner.isLost) then(session.offers);
  }

  register(executor: ExecutorSpec): Leave {
    if (late.loaded !== undefined) return this.all().register(executor);
    const registered = late.use(async () => this.all().register(executor));
    const failed = (thrown: unknown): void =>
      this.#port.fault(`executor \`${executor.id}\` was not registered: load the page again`, thrown);
    registered.catch(failed);
    return (forEver) => void registered.then((leave) => leave(forEver)).catch(() => undefined); // It never came.
  }

  async settle(executor: string, settlement: Settlement): Promise<Settled> {
    if (late.loaded === undefined) await late.load();
    return (await this.#port.scope(settlement.scope)).offers.settle(`executor:${executor}`, settlement);
  }

  async progress(executor: string, run: OfferedRun, message: ProgressMessage): Promise<void> {
    const own = `executor:${executor}`;
    if (late.loaded === undefined || !this.all().runs(own, run)) return; // It has nothing to do here.
    (await this.#port.scope(run.scope)).offers.progress(own, run, message);
  }
}
