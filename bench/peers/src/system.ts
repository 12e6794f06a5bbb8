/** What is measured: one engine that runs programs of durable steps. */

export interface System {
  readonly version: string;
  /** What is on disk when a step counts as done. */
  readonly durability: string;
  /** One run of so many steps, one after the other, until its result is there. */
  readonly run: (steps: number) => Promise<void>;
  /** Milliseconds that a run which recorded so many steps, and rests, takes from being woken to its end. */
  readonly resume?: (steps: number) => Promise<number>;
  /** So many more runs of one step, all of them waiting for the outside when this resolves. */
  readonly park?: (count: number) => Promise<void>;
  /** The processes that hold them, besides this one. */
  readonly pids?: readonly number[];
  /** Where the usual sizes would take hours. */
  readonly sizes?: Partial<Sizes>;
  readonly close: () => Promise<void>;
}

export interface Sizes {
  /** Calls of ten steps, one at a time. */
  readonly sequence: number;
  /** Calls of ten steps, 32 at once. */
  readonly crowd: number;
  /** Steps of one call. */
  readonly long: number;
  /** Calls of one step, each timed. */
  readonly single: number;
  /** Steps that are recorded before a resumption. */
  readonly recorded: number;
  /** Runs that wait, before memory is measured and after. */
  readonly warm: number;
  readonly parked: number;
}
export const usualSizes: Sizes = {
  sequence: 100,
  crowd: 200,
  long: 1000,
  single: 200,
  recorded: 1000,
  warm: 5000,
  parked: 10_000,
};

/** What every step of every engine gives back. */
export const stepResult = (i: number) => ({
  ok: true,
  i,
  value: `result-${i}`,
  cost: 0.0012,
  at: 1_700_000_000_000 + i,
});

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What a process holds is what is left after this: not what its heap has once grown to. */
export const collect = (): void => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
