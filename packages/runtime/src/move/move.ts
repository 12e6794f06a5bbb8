/** Moves of scopes between hosts, as a runtime starts, answers and undoes them. */
import type { State } from "@pawl/sansio-core";
import type { AttachmentStore } from "../journal/blob.ts";
import { Refused, ScopeMoved, isRace } from "../error.ts";
import type { Shutdown } from "../lifecycle/lease.ts";
import type { Journal } from "../journal/journal.ts";
import type { Fault } from "../scope/offload.ts";
import { Arrivals } from "./arrival.ts";
import { Departures } from "./departure.ts";
import type { Leaving, Resting } from "./quiesce.ts";
import type { Mover } from "./mover.ts";
import type { Platform } from "../platform.ts";
import type { Roots } from "../scope/wait-token.ts";

/** A scope that is open here. */
interface OpenScope {
  readonly runner: { readonly epoch: number };
  readonly state: State;
  readonly leaving: Leaving;
}

interface MovesPort {
  readonly journal: Journal;
  readonly platform: Platform;
  readonly instance: string;
  readonly roots: Roots;
  readonly shutdown: Shutdown;
  /** Returns the target of moves at an address. */
  readonly mover?: (to: string) => Mover;
  readonly host?: {
    readonly internalError?: (what: string, thrown: unknown) => void;
    readonly fault?: Fault;
    readonly attachments?: AttachmentStore;
  };
  /** Resolves once this instance may claim scopes. */
  readonly joined: () => Promise<unknown>;
  readonly isOpen: (scope: string) => boolean;
  readonly has: (scope: string) => Promise<boolean>;
  readonly open: (scope: string) => Promise<OpenScope>;
}

/** The default time that bodies get before their scope moves. */
const restMs = 30_000;

/** Moves scopes between this runtime and others, and takes back those that did not arrive. */
export class Moves {
  readonly #port: MovesPort;
  readonly #departures: Departures;
  /** Answers hosts whose scopes move here. */
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
        const { opening } = shutdown;
        if (opening !== undefined) throw opening;
        return arrivals.send(part);
      },
      decline: async (scope, nonce) => {
        shutdown.pass();
        return arrivals.decline(scope, nonce);
      },
    };
  }

  /** Opens a scope that has arrived, so that it goes on. A later caller that opens it gets the error itself. */
  async #goOn(scope: string): Promise<void> {
    await this.#port
      .open(scope)
      .catch((thrown: unknown) => isRace(thrown) || this.#port.host?.internalError?.(scope, thrown));
  }

  /** Brings the move of a claimed scope to its end. Resolves if it was taken back; throws where it is otherwise. */
  async conclude(state: State, epoch: number): Promise<void> {
    await this.#departures.conclude(state, epoch);
  }

  /**
   * Moves a scope. Resolves once it lives at the target. If the target refuses it, it is taken back and the reason is thrown.
   * If the target does not answer, the scope stays moving, and the next to open it asks again.
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
        `${scope} cannot move: this host has no mover, or its store takes no part`,
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
    const { journal, platform, instance, open } = this.#port;
    await open(scope);
    await mover.ready?.(scope);
    await this.#departures.admit(scope);
    const { runner, state, leaving } = await open(scope);
    const nonce = platform.hashText(`${instance} ${scope} ${to} ${runner.epoch} ${state.seq}`);
    await leaving.begin({ type: "scope.moving", to, nonce }, resting);
    await journal.release(scope, instance); // Its bodies have ended: where it is taken back, this was no crash.
    await open(scope);
  }

  /** Takes back a scope that is moving, unless it has arrived. */
  async keep(scope: string): Promise<void> {
    this.#departures.giveUp(scope);
    await this.#port.open(scope);
  }
}
