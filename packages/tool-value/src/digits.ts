/** How many digits integers have: their texts take long to make, and longer than linearly. */
import type { Limits } from "./json.ts";

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
