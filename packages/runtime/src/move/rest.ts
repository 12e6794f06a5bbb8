/** A scope that is about to move comes to rest; then it says so in its log, and accepts nothing more. */
import type { EventOf, State } from "@pawl/sansio-core";
import { type CallRow, recoveryOf } from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import { Refused, ScopeLost, ScopeMoving } from "../error.ts";
import type { Platform } from "../platform.ts";
import type { ScopeRunner } from "../scope/runner.ts";

/** What becomes of bodies that run. */
export type BodiesAtMove =
  /** They run to their end, or until they are suspended. */
  | "finish"
  /** One that may run again is left at its next record; the others finish. */
  | "record"
  /** They are ended as if by a crash. */
  | "lost";

export interface Resting {
  readonly bodies: BodiesAtMove;
  /** How long they are waited for; then the scope stays. */
  readonly withinMs: number;
}

type Running = Extract<CallRow, { readonly phase: "running" }>;

/** Nothing of it would be lost: what it has begun is on record. */
const isAtRecord = ({ body }: Running): boolean =>
  recoveryOf(body.manifest) === "rerunnable" && !body.open.some(({ kind }) => kind === "step");

/** Runs of this driver that have to go on. An executor's are its own, wherever their scope lives. */
const busy = (state: State, owner: string, bodies: BodiesAtMove): readonly Running[] =>
  bodies === "lost"
    ? []
    : state.calls
        .rows()
        .filter((row): row is Running => row.phase === "running" && row.owner === owner)
        .filter((row) => bodies === "finish" || !isAtRecord(row));

export class ComingToRest {
  readonly #runner: ScopeRunner;
  readonly #owner: string;
  readonly #moving: EventOf<"scope.moving">;
  readonly #bodies: BodiesAtMove;
  readonly #callOff: () => void;
  #end: { readonly resolve: (rest: Promise<void>) => void; readonly reject: (error: Error) => void } | undefined;
  /** Resolves when it is on record that the scope moves. */
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

  /** Bodies are handed nothing more, so that they stay at their last record. */
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

  /** In a turn with nothing to hand out. */
  turn(): void {
    if (this.#end === undefined || busy(this.#runner.state, this.#owner, this.#bodies).length > 0) return;
    const told = this.#runner.apply(this.#moving);
    if (E.isLeft(told)) return this.fail(new Refused(told.left.code, told.left.message));
    this.#callOff();
    this.#end.resolve(this.#runner.whenDurable());
    this.#end = undefined;
  }
}

/** How a scope leaves: it admits nothing more, says in its log that it moves, and is nobody's here. */
export class Leaving {
  readonly #runner: ScopeRunner;
  readonly #port: { readonly platform: Platform; readonly owner: string };
  #rest: ComingToRest | undefined;
  #to = "";

  constructor(runner: ScopeRunner, port: { readonly platform: Platform; readonly owner: string }) {
    this.#runner = runner;
    this.#port = port;
  }

  /** Why nothing is admitted, if so. */
  get refusal(): Promise<never> | undefined {
    return this.#rest && Promise.reject(new ScopeMoving(this.#runner.id, this.#to));
  }

  /** A turn of the scope, which delivers to its bodies, unless they are to stay where they are. */
  turn(deliver: () => boolean): boolean {
    if (this.#rest?.holds !== true && deliver()) return true;
    this.#rest?.turn();
    return false;
  }

  /** Resolves when it is on record that the scope moves. */
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
