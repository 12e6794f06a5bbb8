/** Bounds of what comes from outside, and how many digits integers have. */
export interface Limits {
  /** Containers inside each other: a scalar has depth 0, `[]` has depth 1. */
  readonly depth: number;
  /** Size in UTF-16 code units: of the text in `parse`; elsewhere keys and strings at their length, all else at 1. */
  readonly size: number;
  /** Keys of one object. */
  readonly keys: number;
  /** Digits of one integer. Engines differ in the largest bigint that they hold; the limit keeps below all. */
  readonly digits: number;
  /** Of all integers together that have more than 5,000: reading and writing those takes longer than their size says. */
  readonly longDigits: number;
}

export const defaultLimits: Limits = {
  depth: 256,
  size: 32 * 1024 * 1024,
  keys: 100_000,
  digits: 100_000,
  longDigits: 100_000,
};

/** What a total function on trusted values sets itself: nothing. */
export const noLimits: Limits = {
  depth: Infinity,
  size: Infinity,
  keys: Infinity,
  digits: Infinity,
  longDigits: Infinity,
};

/** An integer of more digits is long. Up to here a digit costs about as much as any other character. */
export const longInteger = 5000;

export const tooManyDigits = ({ longDigits }: Limits): string =>
  `integers of more than ${longInteger} digits may have ${longDigits} together`;

/** The decimal logarithm of 16, which engines need not compute alike. */
const digitsOfHex = 1.204_119_982_655_924_8;

/** So many decimal digits a bigint has at least, and two more at most. */
export const leastDigits = (n: bigint): number =>
  Math.floor((n.toString(16).length - (n < 0n ? 2 : 1)) * digitsOfHex) + 1;

/** Whether it has more digits, of which it has at least so many. */
export const exceeds = (n: bigint, least: number, digits: number): boolean => {
  if (least + 2 <= digits) return false;
  const bound = 10n ** BigInt(Math.max(0, Math.floor(digits)));
  return n >= bound || n <= -bound;
};
