/** Series in units of 2^-bits. They lose a unit a term. */
import { lengthOf } from "./rounding.ts";

/** The sum of terms that are each made of the one before, until they vanish. */
const series = (first: bigint, next: (term: bigint, n: bigint) => bigint): bigint => {
  let sum = 0n;
  let n = 0n;
  for (let term = first; term !== 0n; term = next(term, n)) {
    sum += term;
    n += 1n;
  }
  return sum;
};

/** Computed once, with bits to spare. */
export const constant = (compute: (bits: bigint) => bigint): ((bits: bigint) => bigint) => {
  let known = { bits: 0n, units: 0n };
  return (bits) => {
    if (known.bits < bits + 64n) known = { bits: 2n * bits, units: compute(2n * bits) };
    return known.units >> (known.bits - bits);
  };
};

/** Of a slope from 0 to 1, by Euler's series: a bit a term at the least. */
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

/** ln((1 + z) / (1 - z)) */
export const logarithmOfRatio = (z: bigint, bits: bigint): bigint => {
  const square = (z * z) >> bits;
  return 2n * series(z, (term, n) => (((term * square) >> bits) * (2n * n - 1n)) / (2n * n + 1n));
};

export const ln2 = constant((bits) => logarithmOfRatio((1n << bits) / 3n, bits));

/** Of a power between -1 and 1. */
export const exponentialOfRest = (power: bigint, bits: bigint): bigint =>
  series(1n << bits, (term, n) => ((term * power) >> bits) / n);

/** Of an angle in the first quarter. */
export const sine = (angle: bigint, bits: bigint): bigint => {
  const square = (angle * angle) >> bits;
  return series(angle, (term, n) => -((term * square) >> bits) / (2n * n * (2n * n + 1n)));
};

/** Of an angle in the first quarter. */
export const cosine = (angle: bigint, bits: bigint): bigint => {
  const square = (angle * angle) >> bits;
  return series(1n << bits, (term, n) => -((term * square) >> bits) / (2n * n * (2n * n - 1n)));
};

/** Of a whole number, without its rest. */
export const squareRoot = (square: bigint): bigint => {
  if (square < 2n) return square;
  let root = 1n << ((lengthOf(square) + 1n) / 2n);
  for (let next = root; ; root = next) {
    next = (root + square / root) >> 1n;
    if (next >= root) return root;
  }
};
