/** Power series in units of 2^-bits. Each term may lose one unit. */
import { lengthOf } from "./rounding.ts";

/** Sums terms, each computed from the one before, until they vanish. */
const series = (first: bigint, next: (term: bigint, n: bigint) => bigint): bigint => {
  let sum = 0n;
  let n = 0n;
  for (let term = first; term !== 0n; term = next(term, n)) {
    sum += term;
    n += 1n;
  }
  return sum;
};

/** Memoizes a constant, computed with bits to spare. */
export const constant = (compute: (bits: bigint) => bigint): ((bits: bigint) => bigint) => {
  let known = { bits: 0n, units: 0n };
  return (bits) => {
    if (known.bits < bits + 64n) known = { bits: 2n * bits, units: compute(2n * bits) };
    return known.units >> (known.bits - bits);
  };
};

/** Computes the arctangent of a slope from 0 to 1 by Euler's series, which gains at least one bit for each term. */
export const arctangent = (slope: bigint, bits: bigint): bigint => {
  const one = 1n << bits;
  const square = (slope * slope) >> bits;
  const ratio = (square << bits) / (one + square);
  return series((slope << bits) / (one + square), (term, n) => (((term * ratio) >> bits) * 2n * n) / (2n * n + 1n));
};

export const halfPi = constant((bits) => {
  const one = 1n << bits;
  return 8n * arctangent(one / 5n, bits) - 2n * arctangent(one / 239n, bits);
});

/** Computes ln((1 + z) / (1 - z)). */
export const logarithmOfRatio = (z: bigint, bits: bigint): bigint => {
  const square = (z * z) >> bits;
  return 2n * series(z, (term, n) => (((term * square) >> bits) * (2n * n - 1n)) / (2n * n + 1n));
};

export const ln2 = constant((bits) => logarithmOfRatio((1n << bits) / 3n, bits));

/** Computes e to a power between -1 and 1. */
export const exponentialOfRest = (power: bigint, bits: bigint): bigint =>
  series(1n << bits, (term, n) => ((term * power) >> bits) / n);

/** Computes the sine of an angle in the first quadrant. */
export const sine = (angle: bigint, bits: bigint): bigint => {
  const square = (angle * angle) >> bits;
  return series(angle, (term, n) => -((term * square) >> bits) / (2n * n * (2n * n + 1n)));
};

/** Computes the cosine of an angle in the first quadrant. */
export const cosine = (angle: bigint, bits: bigint): bigint => {
  const square = (angle * angle) >> bits;
  return series(1n << bits, (term, n) => -((term * square) >> bits) / (2n * n * (2n * n - 1n)));
};

/** Computes the whole part of a square root, by Newton's method. */
export const squareRoot = (square: bigint): bigint => {
  if (square < 2n) return square;
  let root = 1n << ((lengthOf(square) + 1n) / 2n);
  for (let next = root; ; root = next) {
    next = (root + square / root) >> 1n;
    if (next >= root) return root;
  }
};
