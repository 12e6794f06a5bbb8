/**
 * How an attempt reuses what an earlier one was answered. A body that is tried again asks for the same as before, and
 * gets the answers that are on record. It must take the branches that it took: `Promise.all`, races and `ctx.now()` have
 * to come out as they did, or it asks for something else.
 *
 *   attempt 1   asks a, asks b │ b settles ─▶ asks c │ c settles │ a settles
 *   attempt 2   asks a, asks b │ reuses b  ─▶ asks c │ reuses c  │ reuses a
 *
 * So of all that the body waits for, the answer that settled first is reused first, and the next one only when the body
 * has heard it and has asked for what follows. Each reuse is an event (`effect.reused`) with a place of its own in the log
 * of this attempt, by which later runs of it are replayed; the time that the body reads stays that of the first answer.
 */
import type { SettledEffect } from "@pawl/sansio-core/driver";
import type { Request } from "./record.ts";
import { type Place, insert } from "./replay.ts";

/** Requests that an earlier attempt was answered, until their answers take their places in this one. */
export class ReuseQueue {
  readonly #waiting: (Request & Place)[] = [];
  /** The key whose answer is on its way into the log. */
  #underWay: string | undefined;

  add(request: Request, { settled: seq, index }: SettledEffect): void {
    insert(this.#waiting, { ...request, seq, index });
  }

  /** Returns the request whose answer came first. */
  get first(): Request | undefined {
    return this.#waiting[0];
  }

  get isReady(): boolean {
    return this.#waiting.length > 0 && this.#underWay === undefined;
  }

  /** Takes out the request whose answer is reused next; undefined while another is on its way. */
  next(): Request | undefined {
    if (!this.isReady) return undefined;
    const next = this.#waiting.shift();
    this.#underWay = next?.key;
    return next;
  }

  delivered(key: string): void {
    if (this.#underWay === key) this.#underWay = undefined;
  }
}
