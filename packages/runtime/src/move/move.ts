/** Moves of scopes between hosts, as a runtime works with them: away from here, back, and here. */
import type { State } from "@pawl/sansio-core";
import type { AttachmentStore } from "../journal/attachment.ts";
import { Refused, ScopeMoved } from "../error.ts";
import type { Shutdown } from "../lifecycle/shutdown.ts";
import type { Journal } from "../journal/journal.ts";
import type { Fault } from "../scope/deferred-event.ts";
import { Arrivals } from "./arrival.ts";
import { Departures } from "./departure.ts";
import type { Leaving, Resting } from "./rest.ts";
import type { Mover } from "./mover.ts";
import type { Platform } from "../platform.ts";
import type { Roots } from "../scope/token.ts";

/** A scope that is open here. */
interface OpenScope {
  readonly runner: { readonly epoch: number };
  readonly state: State;
  readonly leaving: Leaving;
}

export interface MovesPort {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly instance: string;
  readonly roots: Roots;
  readonly shutdown: Shutdown;
  /** Whom scopes move to, by address. */
  readonly mover?: (to: string) => Mover;
  readonly host?: {
    readonly internalError?: (what: string, thrown: unknown) => void;
    readonly fault?: Fault;
    readonly attachments?: AttachmentStore;
  };
  /** This instance may claim. */
  readonly joined: () => Promise<unknown>;
  readonly isOpen: (scope: string) => boolean;
  readonly has: (scope: string) => Promise<boolean>;
  readonly open: (scope: string) => Promise<OpenScope>;
}

/** How long bodies may take until their scope moves, unless the host says otherwise. */
const restMs = 30_000;

/** Moves scopes between this runtime and others, and takes back those that did not arrive. */
export class Moves {
  readonly #port: MovesPort;
  readonly #departures: Departures;
  /** Answers other hosts whose scopes move here. */
  readonly arrivals: Mover;

  constructor(port: MovesPort) {
    this.#port = port;
    const { host, shutdown } = port;
    const fault: Fault = (what, thrown) => host?.fault?.(what, thrown);
    const ends = { ...port, attachments: host?.attachments, fault };
    const arrivals = new Arrivals({ ...ends, received: (scope) => void this.#goOn(scope) });
    this.#departures = new Departures(ends);
    this.arrivals = {
      send: async (part) => {
        shutdown.pass();
        return arrivals.send(part);
      },
      decline: async (scope, nonce) => {
        shutdown.pass();
        return arrivals.decline(scope, nonce);
      },
    };
  }

  /** Goes on with a scope that came from elsewhere. Who asks for it hears what is wrong with it. */
  async #goOn(scope: string): Promise<void> {
    await this.#port.open(scope).catch((thrown: unknown) => this.#port.host?.internalError?.(scope, thrown));
  }

  /** Of a scope that was claimed and does not accept events: resolves when it was taken back; else says where it is. */
  async conclude(state: State, epoch: number): Promise<void> {
    await this.#departures.conclude(state, epoch);
  }

  /**
   * Resolves when the scope lives there. Where it is not received it is taken back, and why is thrown; where nobody
   * answers it stays on its way, and whoever opens it asks again.
   */
  async move(
    scope: string,
    to: string,
    { bodies = "record", withinMs = restMs }: Partial<Resting> = {},
  ): Promise<void> {
    const { journal, mover, has } = this.#port;
    if (journal.moves === undefined || mover === undefined)
      throw new Refused(
        "moves_unsupported",
        `${scope} can not move: this host has no mover, or its store takes no part`,
      );
    if (!(await has(scope))) throw new Refused("scope_unknown", `there is no scope ${scope}`);
    try {
      await this.#leave(scope, mover(to), to, { bodies, withinMs });
    } catch (thrown) {
      if (thrown instanceof ScopeMoved && thrown.to === to) return;
      throw thrown;
    }
    throw this.#departures.refusalOf(scope);
  }

  async #leave(scope: string, mover: Mover, to: string, resting: Resting): Promise<void> {
    const { platform, instance, open } = this.#port;
    await open(scope);
    await mover.ready?.(scope);
    await this.#departures.admit(scope);
    const { runner, state, leaving } = await open(scope);
    const nonce = platform.hashText(`${instance} ${scope} ${to} ${runner.epoch} ${state.seq}`);
    await leaving.begin({ type: "scope.moving", to, nonce }, resting);
    await open(scope);
  }

  /** Takes a scope back that is on its way, unless it has arrived. */
  async keep(scope: string): Promise<void> {
    this.#departures.giveUp(scope);
    await this.#port.open(scope);
  }
}
