/** A figure is what a thing costs beside a floor that is measured in the same run, in turns with it. */

export interface Measurement {
  readonly value: number;
  readonly floor: number;
}

export interface Figure {
  readonly name: string;
  readonly what: string;
  readonly unit: string;
  /** The largest ratio of value to floor that is good enough. */
  readonly bound: number;
  /** One round: the thing and its floor, one right after the other. */
  readonly round: () => Measurement | Promise<Measurement>;
  /** What else is to be said of it. */
  readonly note?: (measurement: Measurement) => string;
  /** How many rounds count, where one says it all and takes long. */
  readonly rounds?: number;
  /** How many come before those that count: one, where several count. */
  readonly warmUp?: number;
  /** Ends what its rounds have begun. */
  readonly close?: () => void;
  /** Throws away what figures that are measured together share, so that another run measures anew. */
  readonly renew?: () => void;
}

/** Several rounds: the one in the middle, and how far they lie apart. */
interface Run extends Measurement {
  /** The least and the greatest ratio of a round. */
  readonly spread: readonly [least: number, greatest: number];
}

export interface Result extends Run {
  readonly unit: string;
  readonly ratio: number;
  readonly bound: number;
  readonly holds: boolean;
  /** How often it was measured until it held. */
  readonly runs: number;
  readonly note?: string;
}

const usualRounds = 9;
const mostRuns = 3;

/** Microseconds a call, over about `budgetMs`. */
export const timeUs = (run: () => unknown, budgetMs = 40): number => {
  let calls = 0;
  const start = performance.now();
  const end = start + budgetMs;
  while (performance.now() < end) {
    for (let i = 0; i < 8; i++) run();
    calls += 8;
  }
  return ((performance.now() - start) * 1000) / calls;
};

/** Microseconds for one call, the best of a few: for calls so long that the clock does not matter. */
export const timeOnceUs = (run: () => unknown): number => {
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now();
    run();
    return (performance.now() - start) * 1000;
  });
  return Math.min(...times);
};

const ratioOf = ({ value, floor }: Measurement): number => value / floor;

/** Returns the median round, after those to warm up, so that value, floor and ratio belong together. */
const medianOf = async (figure: Figure): Promise<Run> => {
  const { rounds = usualRounds, warmUp = rounds > 1 ? 1 : 0 } = figure;
  for (let i = 0; i < warmUp; i++) await figure.round();
  const measured: Measurement[] = [];
  for (let i = 0; i < rounds; i++) measured.push(await figure.round());
  figure.close?.();
  const inOrder = measured.toSorted((a, b) => ratioOf(a) - ratioOf(b));
  const at = (round: number): Measurement => inOrder[round] as Measurement;
  return { ...at(rounds >> 1), spread: [ratioOf(at(0)), ratioOf(at(rounds - 1))] };
};

/**
 * Measures a figure, and judges it by the best of at most three runs: one that does not meet its bound is measured again,
 * because other work on the machine spoils single runs.
 */
export const measure = async (figure: Figure): Promise<Result> => {
  let best = await medianOf(figure);
  let runs = 1;
  for (; runs < mostRuns && ratioOf(best) > figure.bound; runs++) {
    figure.renew?.();
    const again = await medianOf(figure);
    if (ratioOf(again) < ratioOf(best)) best = again;
  }
  const { unit, bound } = figure;
  const ratio = ratioOf(best);
  const note = figure.note === undefined ? {} : { note: figure.note(best) };
  return { ...best, unit, ratio, bound, holds: ratio <= bound, runs, ...note };
};
