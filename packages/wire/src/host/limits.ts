/** Limits of a host and of one connection, with counters that enforce them. */
import type { HostError } from "../frame/index.ts";

export interface HostLimits {
  /** Maximum size of a client's frame. A larger one closes the connection with 1009. */
  readonly maxMessageBytes: number;
  /** Maximum number of unanswered questions and subscriptions of one connection. */
  readonly maxInFlight: number;
  /** Maximum size of those questions together. */
  readonly maxInFlightBytes: number;
  /** Unsent bytes above which subscriptions of a client pause. */
  readonly pauseBytes: number;
  /** Unsent bytes of all clients above which only those who have read everything are sent more. */
  readonly pauseTotalBytes: number;
  /** Unsent bytes above which its connection is dropped. */
  readonly maxBufferedBytes: number;
  /** Time for which a slow reader may stay paused before it is dropped. */
  readonly stallMs: number;
  /** Interval of pings. A client that has not answered by the next one is dropped. */
  readonly heartbeatMs: number;
  /** Time from connecting to the hello. */
  readonly helloMs: number;
  /** Maximum number of connections; more are refused with 503. */
  readonly maxConnections: number;
  /** Maximum number of invalid frames in a row. */
  readonly maxBadFrames: number;
}

/** Limits of a host that names none of its own. */
export const defaultHostLimits: HostLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxInFlight: 1024,
  maxInFlightBytes: 64 * 1024 * 1024,
  pauseBytes: 1024 * 1024,
  pauseTotalBytes: 64 * 1024 * 1024,
  maxBufferedBytes: 64 * 1024 * 1024,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  helloMs: 5000,
  maxConnections: 10_000,
  maxBadFrames: 20,
};

/** Maximum delay of a Node timer. A longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

const checkedLimit = (name: string, given: unknown): number => {
  const isTime = name.endsWith("Ms");
  const limit = given === Infinity ? Number.MAX_SAFE_INTEGER : given;
  const least = isTime ? 1 : 0;
  if (Number.isSafeInteger(limit) && (limit as number) >= least)
    return isTime ? Math.min(limit as number, longestTimerMs) : (limit as number);
  throw new RangeError(`limits.${name} must be a whole number from ${least}, found ${String(given)}`);
};

/** Checks limits and fills in defaults. `Infinity` means no limit; times are capped to `longestTimerMs`. */
export const checkedLimits = (given: Partial<HostLimits> = {}): HostLimits => {
  const limits = { ...defaultHostLimits };
  for (const name of Object.keys(limits) as (keyof HostLimits)[])
    Object.assign(limits, { [name]: checkedLimit(name, given[name] ?? limits[name]) });
  return limits;
};

export class RegisteredNames {
  readonly #limits: HostLimits;
  readonly #held = new Map<string, number>();
  #bytes = 0;

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Registers a name, or replaces it; returns the error if there is no room. A single name may have any size. */
  register(id: number, name: string, bytes: number): HostError | undefined {
    const { maxInFlight, maxInFlightBytes } = this.#limits;
    const before = this.#held.get(name);
    const others = this.#bytes - (before ?? 0);
    const refused = (what: string): HostError => {
      const message = `this connection has registered ${what}: open another connection`;
      return { id, code: "too_many_in_flight", message };
    };
    if (before === undefined && this.#held.size >= maxInFlight) return refused(`${maxInFlight} names`);
    if (others > 0 && others + bytes > maxInFlightBytes) return refused(`names with ${others} bytes`);
    this.#held.set(name, bytes);
    this.#bytes = others + bytes;
    return undefined;
  }

  remove(name: string): void {
    this.#bytes -= this.#held.get(name) ?? 0;
    this.#held.delete(name);
  }
}

interface PendingQuestion {
  readonly bytes: number;
  /** Aborts once nobody waits for the answer. */
  readonly gone: AbortController;
}

/** Some of the questions may be answered by then. */
const retryAfterMs = 1000;

export class InFlight {
  readonly #limits: HostLimits;
  readonly #pending = new Map<number, PendingQuestion>();
  #bytes = 0;

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Returns why a question is over the limit. A connection with nothing in flight may ask a question of any size. */
  problem(id: number, bytes: number): HostError | undefined {
    const { maxInFlight, maxInFlightBytes } = this.#limits;
    if (this.#pending.has(id))
      return { id, code: "id_in_use", message: `question ${id} is not answered yet: take another number` };
    const refused = (what: string): HostError => {
      const message = `${what} of this connection are not answered yet`;
      return { id, code: "too_many_in_flight", message, retry_after_ms: retryAfterMs };
    };
    if (this.#pending.size >= maxInFlight) return refused(`${maxInFlight} questions`);
    const isTooMuch = this.#bytes > 0 && this.#bytes + bytes > maxInFlightBytes;
    return isTooMuch ? refused(`questions with ${this.#bytes} bytes`) : undefined;
  }

  begin(id: number, bytes: number): AbortSignal {
    const gone = new AbortController();
    this.#pending.set(id, { bytes, gone });
    this.#bytes += bytes;
    return gone.signal;
  }

  end(id: number): void {
    this.#bytes -= this.#pending.get(id)?.bytes ?? 0;
    this.#pending.delete(id);
  }

  /** Drops one question: the client no longer needs the answer. */
  leave(id: number): void {
    this.#pending.get(id)?.gone.abort();
  }

  /** Drops all questions of a closed connection. */
  abort(): void {
    for (const { gone } of this.#pending.values()) gone.abort();
  }
}
