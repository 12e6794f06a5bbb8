/** Bounds of a connection, and how long a host waits. */
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
