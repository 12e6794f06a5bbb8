/**
 * Quiescing a scope before it moves: it admits no new requests, waits until its bodies have finished or stand at a record, and
 * then records `scope.moving` as its last event here.
 */
import type { EventOf, State } from "@pawl/sansio-core";
import { recoveryOf, type CallIn } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { Refused, ScopeLost, ScopeMoving } from "../error.ts";
import type { Platform } from "../platform.ts";
import type { ScopeRunner } from "../scope/runner.ts";

/** Decides about bodies that run when their scope is to move. */
export type BodiesAtMove =
  /** Waits until they end or are suspended. */
  | "finish"
  /** Stops a rerunnable body at its next record, and waits for the others. */
  | "record"
  /** Ends them as a crash would. */
  | "lost";

export interface Resting {
  readonly bodies: BodiesAtMove;
  /** Bounds the wait; after it the scope stays. */
  readonly withinMs: number;
}

type Running = CallIn<"running">;

/** Returns true if the body can be stopped without loss: everything that it started is on record. */
const isAtRecord = ({ body }: Running): boolean =>
  recoveryOf(body.manifest) === "rerunnable" && !body.open.some(({ kind }) => kind === "step");

/** Returns the calls of this instance that must go on before the scope may move. Those of executors need not: they report to the scope wherever it lives. */
const busy = (state: State, owner: string, bodies: BodiesAtMove): readonly Running[] =>
  bodies === "lost"
    ? []
    : state.calls
        .rows()
        .filter((row): row is Running => row.phase === "running" && row.owner === owner)
        .filter((row) => bodies === "finish" || !isAtRecord(row));

class ComingToRest {
  readonly #runner: ScopeRunner;
  readonly #owner: string;
  readonly #moving: EventOf<"scope.moving">;
  readonly #bodies: BodiesAtMove;
  readonly #callOff: () => void;
  #end: { readonly resolve: (rest: Promise<void>) => void; readonly reject: (error: Error) => void } | undefined;
  /** Resolves once `scope.moving` is durable. */
  readonly over: Promise<void>;

  constructor(
    of: { readonly runner: ScopeRunner; readonly platform: Platform; readonly owner: string },
    moving: EventOf<"scope.moving">,
    { bodies, withinMs }: Resting,
  ) {
    this.#runner = of.runner;
    this.#owner = of.owner;
    this.#moving = moving;
    this.#bodies = bodies;
    this.over = new Promise((resolve, reject) => (this.#end = { resolve, reject }));
    this.#callOff = of.platform.later(withinMs, () => this.#giveUp(withinMs));
  }

  /** True if nothing is delivered to bodies any more, so that they stay at their last record. */
  get holds(): boolean {
    return this.#bodies === "record";
  }

  #giveUp(ms: number): void {
    const calls = busy(this.#runner.state, this.#owner, this.#bodies).map(({ call }) => call.ref);
    const message = `${this.#runner.id} did not come to rest within ${ms} ms: ${calls.join(", ")} still run`;
    this.fail(new Refused("still_running", message));
  }

  fail(error: Error): void {
    this.#callOff();
    this.#end?.reject(error);
    this.#end = undefined;
  }

  /** Records the move, in a turn without deliveries, once nothing is busy. */
  turn(): void {
    if (this.#end === undefined || busy(this.#runner.state, this.#owner, this.#bodies).length > 0) return;
    const applied = this.#runner.apply(this.#moving);
    if (E.isLeft(applied)) return this.fail(new Refused(applied.left.code, applied.left.message));
    this.#callOff();
    this.#end.resolve(this.#runner.whenDurable());
    this.#end = undefined;
  }
}

/** Lets a scope leave: admits nothing more, records that it moves, and abandons it here. */
export class Leaving {
  readonly #runner: ScopeRunner;
  readonly #port: { readonly platform: Platform; readonly owner: string };
  #rest: ComingToRest | undefined;
  #to = "";

  constructor(runner: ScopeRunner, port: { readonly platform: Platform; readonly owner: string }) {
    this.#runner = runner;
    this.#port = port;
  }

  /** Rejects requests while the scope is leaving; undefined otherwise. */
  get refusal(): Promise<never> | undefined {
    return this.#rest && Promise.reject(new ScopeMoving(this.#runner.id, this.#to));
  }

  /** Runs a turn of the scope: delivers to its bodies, unless they are to stay where they are. */
  turn(deliver: () => boolean): boolean {
    if (this.#rest?.holds !== true && deliver()) return true;
    this.#rest?.turn();
    return false;
  }

  /** Resolves once `scope.moving` is durable. */
  async begin(moving: EventOf<"scope.moving">, resting: Resting): Promise<void> {
    if (this.#rest !== undefined) throw new ScopeMoving(this.#runner.id, this.#to);
    this.#to = moving.to;
    this.#rest = new ComingToRest(
      { runner: this.#runner, platform: this.#port.platform, owner: this.#port.owner },
      moving,
      resting,
    );
    this.#runner.schedule();
    try {
      await this.#rest.over;
      this.#runner.abandon(`it moves to ${moving.to}`);
    } finally {
      this.#rest = undefined;
      this.#runner.schedule();
    }
  }

  abandon(why: string): void {
    this.#rest?.fail(new ScopeLost(why));
  }
}
