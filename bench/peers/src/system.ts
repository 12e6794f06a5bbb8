/** An engine to measure: it runs programs of durable steps. */

export interface System {
  readonly version: string;
  /** The guarantee behind a completed step. */
  readonly durability: string;
  /** Runs a program of this many steps, one after the other, to its result. */
  readonly run: (steps: number) => Promise<void>;
  /** Returns the milliseconds from waking a run with this many recorded steps to its end. */
  readonly resume?: (steps: number) => Promise<number>;
  /** Starts more runs of one step. Resolves once all of them wait for the outside. */
  readonly park?: (count: number) => Promise<void>;
  /** Other processes that hold the runs. */
  readonly pids?: readonly number[];
  /** Smaller sizes, where the usual ones would take hours. */
  readonly sizes?: Partial<Sizes>;
  readonly close: () => Promise<void>;
}

export interface Sizes {
  /** Calls of ten steps, one at a time. */
  readonly sequence: number;
  /** Calls of ten steps, 32 at a time. */
  readonly crowd: number;
  /** Steps of one long call. */
  readonly long: number;
  /** Calls of one step, each timed. */
  readonly single: number;
  /** Recorded steps before a resumption. */
  readonly recorded: number;
  /** Parked runs before and after memory is measured. */
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

/** Returns the result of each step, the same for every engine. */
export const stepResult = (i: number) => ({
  ok: true,
  i,
  value: `result-${i}`,
  cost: 0.0012,
  at: 1_700_000_000_000 + i,
});

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Collects garbage, so that live memory is measured and not the grown heap. */
export const collect = (): void => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
