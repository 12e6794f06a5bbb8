/** Detects growth: fits a line through the second half of the samples (least squares). */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number;
  readonly value: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const halfOf = (samples: readonly Sample[]): number => (samples.at(-1)?.at ?? 0) / 2;

/** Returns the rise in the first half. */
export const firstRiseOf = (samples: readonly Sample[]): number => {
  const half = halfOf(samples);
  return (samples.findLast(({ at }) => at <= half)?.value ?? 0) - (samples[0]?.value ?? 0);
};

/** Returns the rise of the line over the second half. */
export const riseOf = (samples: readonly Sample[]): number => {
  const half = halfOf(samples);
  const late = samples.filter(({ at }) => at >= half);
  const [at, value] = [mean(late.map((one) => one.at)), mean(late.map((one) => one.value))];
  const over = late.reduce((sum, one) => sum + (one.at - at) * (one.value - value), 0);
  const under = late.reduce((sum, one) => sum + (one.at - at) ** 2, 0);
  return under === 0 ? 0 : (over / under) * half;
};
