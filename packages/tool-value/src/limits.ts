/** Bounds on input from outside, and the counting of digits that they need. */

export interface Limits {
  /** The nesting of containers: a scalar has depth 0, `[]` has depth 1. */
  readonly depth: number;
  /** The size in UTF-16 code units: for `parse`, of the text; elsewhere keys and strings by length, any other item as 1. */
  readonly size: number;
  /** The keys of one object. */
  readonly keys: number;
  /** The digits of one integer. Engines differ in the largest bigint they can hold; the default is below all of them. */
  readonly digits: number;
  /** The digits of all long integers together (more than 5,000 digits each): their cost grows faster than their size. */
  readonly longDigits: number;
}

/** Bounds values that come in: 32 MiB, depth 256, 100,000 keys, 100,000 digits. */
export const defaultLimits: Limits = {
  depth: 256,
  size: 32 * 1024 * 1024,
  keys: 100_000,
  digits: 100_000,
  longDigits: 100_000,
};

/** No bounds, for values that were admitted before. */
export const noLimits: Limits = {
  depth: Infinity,
  size: Infinity,
  keys: Infinity,
  digits: Infinity,
  longDigits: Infinity,
};

/** An integer with more digits is long. Up to this length a digit costs about as much as any other character. */
export const longInteger = 5000;

export const tooManyDigits = ({ longDigits }: Limits): string =>
  `integers of more than ${longInteger} digits may have ${longDigits} together`;

/** The decimal logarithm of 16, as a literal: engines may compute it with different roundings. */
const digitsOfHex = 1.204_119_982_655_924_8;

/** Returns a lower bound for the number of decimal digits of a bigint; the exact number is at most two higher. */
export const leastDigits = (n: bigint): number =>
  Math.floor((n.toString(16).length - (n < 0n ? 2 : 1)) * digitsOfHex) + 1;

/** Tells whether a bigint has more than `digits` digits. `least` is its `leastDigits`. */
export const exceeds = (n: bigint, least: number, digits: number): boolean => {
  if (least + 2 <= digits) return false;
  const bound = 10n ** BigInt(Math.max(0, Math.floor(digits)));
  return n >= bound || n <= -bound;
};
