/**
 * What a body asks for, put on record. What the core refuses is on record too, with the refusal as its answer, so that
 * the body hears of it, and hears the same when it runs again.
 */
import type { EventOf, Rejection, RejectionCode } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Request, RunId } from "./body.ts";
import type { Told } from "../scope/deferred-event.ts";
import type { ScopeRunner } from "../scope/runner.ts";

/** The run is over, or its scope is another's: nobody is left to hear. */
const isOver: ReadonlySet<RejectionCode> = new Set([
  "call_unknown",
  "call_ended",
  "wrong_phase",
  "stale_run",
  "stale_attempt",
  "scope_is_moving",
  "scope_has_moved",
]);

/** `later`: its link has no room for it yet, and it is to be put again. A promise: its values are being stored. */
type Now = "done" | "later";
type Put = Now | Promise<Now>;
type Outcome = E.Either<Rejection, Told>;

/** What was told, or is when its values are stored; of that nothing is left where the scope is lost meanwhile. */
const putBy = (told: Outcome, rejected: (rejection: Rejection) => Put): Put => {
  if (E.isLeft(told)) return rejected(told.left);
  const { later } = told.right;
  return later === undefined
    ? "done"
    : later.then((outcome) => (outcome === undefined ? "done" : putBy(outcome, rejected)));
};

const refuse = (runner: ScopeRunner, asked: EventOf<"effect.requested">, { code, message }: Rejection): Put =>
  putBy(runner.apply({ ...asked, refused: { code, message } }), (rejection) => {
    runner.abandon(`what call \`${asked.call}\` asks under \`${asked.key}\` fits nowhere: ${rejection.message}`);
    return "done";
  });

/** Records a request. */
export const recordRequest = (runner: ScopeRunner, id: RunId, { key, hash, effect }: Request): Put => {
  const asked = { type: "effect.requested", ...id, key, hash, effect } as const;
  return putBy(runner.apply(asked), (rejection) => {
    if (rejection.code === "link_full") return "later";
    return isOver.has(rejection.code) || runner.isAbandoned ? "done" : refuse(runner, asked, rejection);
  });
};

/** Of one call: what is to be recorded next, and all behind it. */
class Line {
  readonly #puts: (() => Put)[];
  readonly #emptied: (line: Line) => void;
  #isStoring = false;

  constructor(first: () => Put, emptied: (line: Line) => void) {
    this.#puts = [first];
    this.#emptied = emptied;
  }

  add(put: () => Put): void {
    this.#puts.push(put);
  }

  /** Nobody asks any more. */
  leave(): void {
    this.#puts.length = 0;
  }

  /** Puts one after the other, as far as may be. */
  goOn(): void {
    if (this.#isStoring) return;
    for (let next = this.#puts[0]; next !== undefined; next = this.#puts[0]) if (!this.took(next())) return;
    this.#emptied(this);
  }

  /** Whether the first is done, so that the next may be put. */
  took(put: Put): boolean {
    if (put === "done") this.#puts.shift();
    else if (put !== "later") this.#store(put);
    return put === "done";
  }

  #store(stored: Promise<Now>): void {
    this.#isStoring = true;
    void stored.then((put) => {
      this.#isStoring = false;
      if (this.took(put)) this.goOn();
    });
  }
}

/** Requests of bodies in the order in which each makes them: a log in another order could not be followed again. */
export class RequestQueue {
  /** Of calls that wait for room on a link, or for values to be stored. */
  readonly #lines = new Map<string, Line>();

  ask(call: string, put: () => Put): void {
    const known = this.#lines.get(call);
    if (known !== undefined) return known.add(put);
    const begun = put();
    if (begun === "done") return;
    const line = new Line(put, (emptied) => this.#lines.get(call) === emptied && this.forget(call));
    this.#lines.set(call, line);
    line.took(begun);
  }

  /** Whether something that this call asks for is not on record yet. */
  has(call: string): boolean {
    return this.#lines.has(call);
  }

  /** There may be room. */
  again(): void {
    for (const line of this.#lines.values()) line.goOn();
  }

  /** The body is over. */
  forget(call: string): void {
    this.#lines.get(call)?.leave();
    this.#lines.delete(call);
  }

  forgetAll(): void {
    for (const call of this.#lines.keys()) this.forget(call);
  }
}
