/** Executors as the host works with them. */
import type { ProgressMessage } from "../../body/facet/context.ts";
import { type ExecutorSpec, Executors, type OfferedRun } from "./executor.ts";
import type { Offers, Settled, Settlement } from "./offer.ts";
import type { Platform } from "../../platform.ts";
import type { Session } from "../session.ts";

export interface ExecutorVerbsPort {
  readonly platform: Platform;
  readonly leaseMs: number;
  readonly scope: (scope: string) => Promise<Session>;
  /** The names of the scopes in memory. */
  readonly open: () => Iterable<string>;
}

/** An executor has left: for as long as its lease, or for ever. */
export type Leave = (forEver?: boolean) => void;

export class ExecutorVerbs {
  readonly #port: ExecutorVerbsPort;
  /** All of this runtime. */
  readonly all: Executors;

  constructor(port: ExecutorVerbsPort) {
    this.#port = port;
    this.all = new Executors(port.platform, port.leaseMs, {
      lost: (scope, owner) => void this.#withOffers(scope, (offers) => offers.lost(owner)),
      available: (tools) => {
        for (const scope of port.open()) void this.#withOffers(scope, (offers) => offers.available(tools));
      },
    });
  }

  /** Whoever opens a scope next learns of its executors from the log: one that can not be opened now is left to them. */
  async #withOffers(scope: string, then: (offers: Offers) => void): Promise<void> {
    const session = await this.#port.scope(scope).catch(() => undefined);
    if (session !== undefined && !session.runner.isAbandoned) then(session.offers);
  }

  register(executor: ExecutorSpec): Leave {
    return this.all.register(executor);
  }

  async settle(executor: string, settlement: Settlement): Promise<Settled> {
    return (await this.#port.scope(settlement.scope)).offers.settle(`executor:${executor}`, settlement);
  }

  async progress(executor: string, run: OfferedRun, message: ProgressMessage): Promise<void> {
    const own = `executor:${executor}`;
    if (!this.all.runs(own, run)) return; // It has nothing to do here.
    (await this.#port.scope(run.scope)).offers.progress(own, run, message);
  }
}
