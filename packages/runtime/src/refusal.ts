/**
 * What a body asks for, put on record. What the core refuses is on record too, with the refusal as its answer, so that
 * the body hears of it, and hears the same when it runs again.
 */
import type { RejectionCode } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Request, RunId } from "./body.ts";
import type { ScopeRunner } from "./scope.ts";

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

type Put = "done" | "later";

/** Records a request; `later` where its link has no room for it yet. */
export const recordRequest = (runner: ScopeRunner, id: RunId, { key, hash, effect }: Request): Put => {
  const asked = { type: "effect.requested", ...id, key, hash, effect } as const;
  const told = runner.tell(asked);
  if (E.isRight(told)) return "done";
  const { code, message } = told.left;
  if (code === "link_full") return "later";
  if (isOver.has(code)) return "done";
  const refused = runner.tell({ ...asked, refused: { code, message } });
  if (E.isLeft(refused))
    runner.lose(`what call \`${id.call}\` asks under \`${key}\` fits nowhere: ${refused.left.message}`);
  return "done";
};

/** Requests of bodies in the order in which each makes them: a log in another order could not be followed again. */
export class AskedInOrder {
  /** Of a call whose link has no room: what waits for that, and all behind it. */
  readonly #waiting = new Map<string, (() => Put)[]>();

  ask(call: string, put: () => Put): void {
    const line = this.#waiting.get(call);
    if (line !== undefined) line.push(put);
    else if (put() === "later") this.#waiting.set(call, [put]);
  }

  /** There may be room. */
  again(): void {
    for (const [call, line] of this.#waiting) {
      while (line[0] !== undefined && line[0]() === "done") line.shift();
      if (line.length === 0) this.#waiting.delete(call);
    }
  }

  /** The body is over. */
  forget(call: string): void {
    this.#waiting.delete(call);
  }
}
