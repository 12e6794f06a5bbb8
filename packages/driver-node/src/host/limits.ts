/** Bounds of a connection, and how long a host waits. */
import type { HostError } from "@pawl/wire/frame";

export class RegisteredNames {
  readonly #limits: HostLimits;
  readonly #held = new Map<string, number>();
  #bytes = 0;

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Takes a name in, in the place of the same one before; or says why there is no room. One alone may have any size. */
  register(id: number, name: string, bytes: number): HostError | undefined {
    const { maxInFlight, maxInFlightBytes } = this.#limits;
    const before = this.#held.get(name);
    const others = this.#bytes - (before ?? 0);
    const refused = (what: string): HostError => {
      const message = `this connection goes by ${what}: close it, or open another one beside it`;
      return { id, code: "too_many_in_flight", message };
    };
    if (before === undefined && this.#held.size >= maxInFlight) return refused(`${maxInFlight} names`);
    if (others > 0 && others + bytes > maxInFlightBytes) return refused(`names with ${others} bytes`);
    this.#held.set(name, bytes);
    this.#bytes = others + bytes;
    return undefined;
  }
}

interface PendingQuestion {
  readonly bytes: number;
  /** JsonDocument when nobody is left to hear the answer. */
  readonly gone: AbortController;
}

/** After so long some of them may have been answered. */
const retryAfterMs = 1000;

export class InFlight {
  readonly #limits: HostLimits;
  readonly #pending = new Map<number, PendingQuestion>();
  #bytes = 0;

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Why one more does not fit, if so. A connection with nothing in flight may ask anything. */
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

  /** Who asked needs no answer. */
  leave(id: number): void {
    this.#pending.get(id)?.gone.abort();
  }

  /** The connection is gone. */
  abort(): void {
    for (const { gone } of this.#pending.values()) gone.abort();
  }
}
export interface HostLimits {
  /** Of one frame from a client; a larger one closes the connection with 1009. */
  readonly maxMessageBytes: number;
  /** Questions of one connection that are not answered yet, and subscriptions. */
  readonly maxInFlight: number;
  /** Bytes of those questions together. */
  readonly maxInFlightBytes: number;
  /** Bytes for a client that are not sent yet: above the first bound its subscriptions pause. */
  readonly pauseBytes: number;
  /** Above this bound the connection is dropped. */
  readonly maxBufferedBytes: number;
  /** How long a reader may stay paused before it is dropped. */
  readonly stallMs: number;
  /** A client that does not answer a ping for so long is gone. */
  readonly heartbeatMs: number;
  /** From the connection to its hello. */
  readonly helloMs: number;
  /** Connections at once; more are refused with 503. */
  readonly maxConnections: number;
  /** Frames that could not be read, one after the other. */
  readonly maxBadFrames: number;
}

/** Bounds the connections of a host that names no limits of its own. */
export const defaultHostLimits: HostLimits = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxInFlight: 1024,
  maxInFlightBytes: 64 * 1024 * 1024,
  pauseBytes: 1024 * 1024,
  maxBufferedBytes: 64 * 1024 * 1024,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  helloMs: 5000,
  maxConnections: 10_000,
  maxBadFrames: 20,
};

/** A timer of Node can not be set for longer: it would ring at once. */
export const longestTimerMs = 2 ** 31 - 1;

const admitted = (name: string, given: unknown): number => {
  const isTime = name.endsWith("Ms");
  const limit = given === Infinity ? Number.MAX_SAFE_INTEGER : given;
  const least = isTime ? 1 : 0;
  if (Number.isSafeInteger(limit) && (limit as number) >= least)
    return isTime ? Math.min(limit as number, longestTimerMs) : (limit as number);
  throw new RangeError(`limits.${name} is a whole number from ${least}, found ${String(given)}`);
};

/** Bounds as a host keeps them: `Infinity` is none, and no wait is longer than a timer. */
export const admittedLimits = (given: Partial<HostLimits> = {}): HostLimits => {
  const limits = { ...defaultHostLimits };
  for (const name of Object.keys(limits) as (keyof HostLimits)[])
    Object.assign(limits, { [name]: admitted(name, given[name] ?? limits[name]) });
  return limits;
};
