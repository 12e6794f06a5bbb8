/** Whether something stays as it is: the line of least squares through the second half of its samples. */
export interface Sample {
  /** In seconds since the beginning. */
  readonly at: number;
  readonly value: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** By how much the line rises over the second half. */
export const riseOf = (samples: readonly Sample[]): number => {
  const half = (samples.at(-1)?.at ?? 0) / 2;
  const late = samples.filter(({ at }) => at >= half);
  const [at, value] = [mean(late.map((one) => one.at)), mean(late.map((one) => one.value))];
  const over = late.reduce((sum, one) => sum + (one.at - at) * (one.value - value), 0);
  const under = late.reduce((sum, one) => sum + (one.at - at) ** 2, 0);
  return under === 0 ? 0 : (over / under) * half;
};
