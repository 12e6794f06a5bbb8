/**
 * Ziv's method of correct rounding. Doubles are whole numbers times powers of two, and are rounded once, at the end.
 *
 * A value is approximated in whole numbers, with an error below `slack`. If every number within the slack rounds to one
 * double, that double is the nearest. Otherwise the value is computed again with twice the bits. This ends, unless the true
 * value lies halfway between two doubles.
 */

/** units * 2^exponent */
export interface Binary {
  readonly units: bigint;
  readonly exponent: bigint;
}

const fractionBits = 52n;
const leastExponent = -1074n;
const infinity = 0x7ffn << fractionBits;

export const lengthOf = (units: bigint): bigint => BigInt(units.toString(2).length);

const bitsOf = (value: number): bigint => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0);
};

const floatOf = (bits: bigint): number => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
};

/** Splits a finite number into an odd whole number and an exponent. */
export const binaryOf = (value: number): Binary => {
  const bits = bitsOf(Math.abs(value));
  const leading = bits >> fractionBits;
  let units = BigInt.asUintN(52, bits) + (leading === 0n ? 0n : 1n << fractionBits);
  let exponent = leastExponent + (leading === 0n ? 0n : leading - 1n);
  for (; units !== 0n && (units & 1n) === 0n; units >>= 1n) exponent += 1n;
  return { units: value < 0 ? -units : units, exponent };
};

/** Drops bits; half a unit rounds to the even neighbour. */
const rounded = (units: bigint, drop: bigint): bigint => {
  const half = 1n << (drop - 1n);
  return (units + half - 1n + ((units >> drop) & 1n)) >> drop;
};

/** Returns the nearest double (the even one of two); subnormal or 0 if it is tiny, infinite if it is too large. */
export const nearest = ({ units, exponent }: Binary): number => {
  if (units < 0n) return -nearest({ units: -units, exponent });
  const length = lengthOf(units);
  const [surplus, below] = [length - fractionBits - 1n, leastExponent - exponent];
  const drop = surplus > below ? surplus : below;
  if (units === 0n || drop > length) return 0;
  const significand = drop > 0n ? rounded(units, drop) : units << -drop;
  const bits = significand + ((exponent + drop - leastExponent) << fractionBits);
  return bits < infinity ? floatOf(bits) : Infinity;
};

const slack = 1n << 32n;

/** Returns the double nearest to a true value that `approximate` computes to as many bits as it is asked for. */
export const nearestOf = (approximate: (bits: bigint) => Binary): number => {
  for (let bits = 192n; ; bits *= 2n) {
    const { units, exponent } = approximate(bits);
    const high = nearest({ units: units + slack, exponent });
    if (nearest({ units: units - slack, exponent }) === high) return high;
  }
};

/** Does the same for an approximation in units of 2^-bits. */
export const nearestOfUnits = (approximate: (bits: bigint) => bigint): number =>
  nearestOf((bits) => ({ units: approximate(bits), exponent: -bits }));
