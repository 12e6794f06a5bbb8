/**
 * Quiescing a scope before it leaves: it admits no new requests, and waits until its bodies have finished or stand at a record.
 * A scope that moves to another store then records `scope.moving` as its last event here. One whose host drains records
 * nothing: the next host finds it as it stands.
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
  readonly #last: EventOf<"scope.moving"> | undefined;
  readonly #bodies: BodiesAtMove;
  readonly #callOff: () => void;
  #end: { readonly resolve: (rest: Promise<void>) => void; readonly reject: (error: Error) => void } | undefined;
  /** Resolves once everything is durable, `scope.moving` as well. */
  readonly over: Promise<void>;

  /** `last`: what the scope records then, if it moves. */
  constructor(
    of: { readonly runner: ScopeRunner; readonly platform: Platform; readonly owner: string },
    last: EventOf<"scope.moving"> | undefined,
    { bodies, withinMs }: Resting,
  ) {
    this.#runner = of.runner;
    this.#owner = of.owner;
    this.#last = last;
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

  /** Ends the wait, in a turn without deliveries, once nothing is busy. */
  turn(): void {
    if (this.#end === undefined || busy(this.#runner.state, this.#owner, this.#bodies).length > 0) return;
    const applied = this.#last && this.#runner.apply(this.#last);
    if (applied !== undefined && E.isLeft(applied))
      return this.fail(new Refused(applied.left.code, applied.left.message));
    this.#callOff();
    this.#end.resolve(this.#runner.whenDurable());
    this.#end = undefined;
  }
}

/** Lets a scope leave, to another store or to the next host: admits nothing more, and brings it to rest. */
export class Leaving {
  readonly #runner: ScopeRunner;
  readonly #port: { readonly platform: Platform; readonly owner: string };
  #rest: ComingToRest | undefined;
  /** The address that it moves to; undefined where its host drains. */
  #to: string | undefined;

  constructor(runner: ScopeRunner, port: { readonly platform: Platform; readonly owner: string }) {
    this.#runner = runner;
    this.#port = port;
  }

  /** Rejects requests while the scope is leaving; undefined otherwise. */
  get refusal(): Promise<never> | undefined {
    return this.#rest && Promise.reject(this.#leaves());
  }

  #leaves(): Error {
    const { id } = this.#runner;
    const stops = `scope ${id} is let go, because its host is about to stop: ask again`;
    return this.#to === undefined ? new ScopeLost(stops) : new ScopeMoving(id, this.#to);
  }

  #begin(last: EventOf<"scope.moving"> | undefined, resting: Resting): ComingToRest {
    this.#to = last?.to;
    this.#rest = new ComingToRest({ runner: this.#runner, ...this.#port }, last, resting);
    this.#runner.schedule();
    return this.#rest;
  }

  /** Runs a turn of the scope: delivers to its bodies, unless they are to stay where they are. */
  turn(deliver: () => boolean): boolean {
    if (this.#rest?.holds !== true && deliver()) return true;
    this.#rest?.turn();
    return false;
  }

  /** Resolves once `scope.moving` is durable. */
  async begin(moving: EventOf<"scope.moving">, resting: Resting): Promise<void> {
    if (this.#rest !== undefined) throw this.#leaves();
    try {
      await this.#begin(moving, resting).over;
      this.#runner.abandon(`it moves to ${moving.to}`);
    } finally {
      this.#rest = undefined;
      this.#runner.schedule();
    }
  }

  /**
   * Resolves once the scope is at rest, or the time is over, or it was lost. Bodies stay where they stand then: the scope is to
   * be closed. A move that is under way goes on.
   */
  async cease(withinMs: number): Promise<void> {
    const rest = this.#rest ?? this.#begin(undefined, { bodies: "record", withinMs });
    await rest.over.catch(() => undefined); // What still runs is ended as by a crash, and begun again by the next host.
  }

  abandon(why: string): void {
    this.#rest?.fail(new ScopeLost(why));
  }
}
