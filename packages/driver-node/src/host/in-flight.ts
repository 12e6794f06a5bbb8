/** The questions of one connection that are not answered yet: how many, and how many bytes they hold. */
import type { HostError } from "@pawl/wire/frame";
import type { HostLimits } from "./limits.ts";

interface Asked {
  readonly bytes: number;
  /** Told when nobody is left to hear the answer. */
  readonly gone: AbortController;
}

/** After so long some of them may have been answered. */
const retryAfterMs = 1000;

export class InFlight {
  readonly #limits: HostLimits;
  readonly #asked = new Map<number, Asked>();
  #bytes = 0;

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Why one more does not fit, if so. A connection with nothing in flight may ask anything. */
  misfit(id: number, bytes: number): HostError | undefined {
    const { maxInFlight, maxInFlightBytes } = this.#limits;
    if (this.#asked.has(id))
      return { id, code: "id_in_use", message: `question ${id} is not answered yet: take another number` };
    const refused = (what: string): HostError => {
      const message = `${what} of this connection are not answered yet`;
      return { id, code: "too_many_in_flight", message, retry_after_ms: retryAfterMs };
    };
    if (this.#asked.size >= maxInFlight) return refused(`${maxInFlight} questions`);
    const isTooMuch = this.#bytes > 0 && this.#bytes + bytes > maxInFlightBytes;
    return isTooMuch ? refused(`questions with ${this.#bytes} bytes`) : undefined;
  }

  begin(id: number, bytes: number): AbortSignal {
    const gone = new AbortController();
    this.#asked.set(id, { bytes, gone });
    this.#bytes += bytes;
    return gone.signal;
  }

  end(id: number): void {
    this.#bytes -= this.#asked.get(id)?.bytes ?? 0;
    this.#asked.delete(id);
  }

  /** Who asked needs no answer. */
  leave(id: number): void {
    this.#asked.get(id)?.gone.abort();
  }

  /** The connection is gone. */
  abort(): void {
    for (const { gone } of this.#asked.values()) gone.abort();
  }
}
