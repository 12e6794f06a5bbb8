/**
 * A second implementation of the elementary functions, by other methods than `elementary.ts`: exponentials and sines by
 * squaring and doubling from a small argument, logarithms by Newton's method. It uses no constants and no range reduction.
 */

const bits = 640n;
const one = 1n << bits;

/** Converts to units of 2^-640, exactly from 1e-100 to 1e100. */
export const unitsOf = (value: number): bigint => {
  let [rest, shift] = [value, bits];
  for (; !Number.isInteger(rest); rest *= 2) shift -= 1n;
  return BigInt(rest) << shift;
};

const times = (a: bigint, b: bigint): bigint => (a * b) >> bits;
export const over = (a: bigint, b: bigint): bigint => (a << bits) / b;

/** Counts the halvings until the argument is below a thousandth. */
const halvings = (value: bigint): number => (value * 1000n).toString(2).length - Number(bits);

const small = (value: bigint, count: number): bigint => value >> BigInt(Math.max(count, 0));

export const expOf = (value: bigint): bigint => {
  if (value < 0n) return over(one, expOf(-value));
  const count = halvings(value);
  const part = small(value, count);
  let sum = one;
  for (let [term, n] = [part, 2n]; term > 0n; n += 1n) {
    sum += term;
    term = times(term, part) / n;
  }
  for (let i = 0; i < count; i++) sum = times(sum, sum);
  return sum;
};

export const lnOf = (value: bigint, guess: number): bigint => {
  let root = unitsOf(guess);
  for (let i = 0; i < 4; i++) root += over(value, expOf(root)) - one;
  return root;
};

const sineOfSmall = (part: bigint): bigint => {
  let sum = 0n;
  for (let [term, n] = [part, 2n]; term !== 0n; n += 2n) {
    sum += term;
    term = -times(times(term, part), part) / (n * (n + 1n));
  }
  return sum;
};

/** Works with the distance of the cosine from 1, which keeps the bits of small angles. */
export const sineAndCosine = (angle: bigint): readonly [sine: bigint, cosine: bigint] => {
  if (angle < 0n) return [-sineAndCosine(-angle)[0], sineAndCosine(-angle)[1]];
  const count = halvings(angle);
  const part = small(angle, count);
  let sine = sineOfSmall(part);
  const half = sineOfSmall(part / 2n);
  let below = 2n * times(half, half);
  for (let i = 0; i < count; i++) [sine, below] = [2n * times(sine, one - below), 2n * times(sine, sine)];
  return [sine, one - below];
};
