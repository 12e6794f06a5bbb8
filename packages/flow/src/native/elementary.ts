/**
 * Correctly rounded elementary functions: the result is the double nearest to the true value, the same on every engine.
 *
 * The true value is irrational or a whole number, so it never lies halfway between two doubles, and its rounding is certain
 * once enough bits are known. Only powers are an exception: they are tried exactly first.
 */
import { type Binary, binaryOf, lengthOf, nearest, nearestOf, nearestOfUnits } from "./rounding.ts";
import {
  arctangent,
  constant,
  cosine,
  exponentialOfRest,
  halfPi,
  ln2,
  logarithmOfRatio,
  sine,
  squareRoot,
} from "./series.ts";

const logarithm = (value: number, bits: bigint): bigint => {
  const { units, exponent } = binaryOf(value);
  const length = lengthOf(units);
  const isLow = units << 1n < 3n << (length - 1n);
  const scale = isLow ? length - 1n : length;
  const one = 1n << scale;
  return logarithmOfRatio(((units - one) << bits) / (units + one), bits) + (exponent + scale) * ln2(bits);
};

const ln10 = constant((bits) => logarithm(10, bits));

const logarithmTo =
  (base: (bits: bigint) => bigint) =>
  (value: number): number =>
    value > 0 && value < Infinity && value !== 1
      ? nearestOfUnits((bits) => (logarithm(value, bits) << bits) / base(bits))
      : Math.log(value);

export const ln = logarithmTo((bits) => 1n << bits);
export const log2 = logarithmTo(ln2);
export const log10 = logarithmTo(ln10);

/** Returns a bound on the number of bits before the binary point. */
const wholeBits = ({ exponent }: Binary): bigint => (exponent > -53n ? exponent + 53n : 0n);

/** Raises e to a power in units of 2^-wide; `wide` exceeds `bits` by the power's bits before the binary point. */
const exponential = (units: bigint, wide: bigint, bits: bigint): Binary => {
  const twos = units / ln2(wide);
  const rest = (units - twos * ln2(wide)) >> (wide - bits);
  return { units: exponentialOfRest(rest, bits), exponent: twos - bits };
};

export const exp = (value: number): number => {
  if (!Number.isFinite(value)) return Math.exp(value);
  const power = binaryOf(value);
  return nearestOf((bits) => {
    const wide = bits + wholeBits(power);
    return exponential(power.units << (power.exponent + wide), wide, bits);
  });
};

/** Computes a power of a positive number exactly, if it may be a double or lie halfway between two. */
const exactPower = (base: number, exponent: number): number | undefined => {
  let { units, exponent: twos } = binaryOf(base);
  const times = binaryOf(exponent);
  for (let halves = times.exponent; halves < 0n; halves += 1n) {
    const root = squareRoot(units);
    if (root * root !== units || (twos & 1n) === 1n) return undefined;
    units = root;
    twos /= 2n;
  }
  const whole = times.exponent > 0n ? times.units << times.exponent : times.units;
  if (units === 1n) return nearest({ units, exponent: twos * whole });
  const isShort = whole > 0n && whole <= 34n; // 3^35 has 56 bits
  return isShort ? nearest({ units: units ** whole, exponent: twos * whole }) : undefined;
};

const positivePower = (base: number, exponent: number): number => {
  const { units, exponent: twos } = binaryOf(exponent);
  const more = 64n + wholeBits({ units, exponent: twos });
  const raised = (bits: bigint): Binary =>
    exponential((logarithm(base, bits + more) * units) << twos, bits + more, bits);
  return exactPower(base, exponent) ?? nearestOf(raised);
};

/** Raises as IEEE 754 does: any power of 1 is 1, and so is an infinite power of -1. JavaScript returns NaN there. */
export const pow = (base: number, exponent: number): number => {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  const isPlain = [base, exponent].every((value) => Number.isFinite(value) && value !== 0);
  if (!isPlain || (base < 0 && !Number.isInteger(exponent))) return base ** exponent;
  const size = positivePower(Math.abs(base), exponent);
  return base < 0 && exponent % 2 !== 0 ? -size : size;
};

/** Computes the sine of a positive angle plus `ahead` quarter turns. */
const wave = (value: number, ahead: bigint, bits: bigint): bigint => {
  const angle = binaryOf(value);
  const wide = bits + wholeBits(angle);
  const units = angle.units << (angle.exponent + wide);
  const rest = (units % halfPi(wide)) >> (wide - bits);
  const quarter = (units / halfPi(wide) + ahead) & 3n;
  const height = (quarter & 1n) === 0n ? sine(rest, bits) : cosine(rest, bits);
  return quarter < 2n ? height : -height;
};

/** Computes with 128 bits more: no double is nearer than 2^-62 to a pole of the tangent, and that loss counts twice. */
const tangent = (value: number, bits: bigint): bigint => {
  const wide = bits + 128n;
  return (wave(value, 0n, wide) << bits) / wave(value, 1n, wide);
};

/** Makes an odd function: f(-x) = -f(x). */
const odd =
  (approximate: (value: number, bits: bigint) => bigint) =>
  (value: number): number =>
    value === 0 ? value : Math.sign(value) * nearestOfUnits((bits) => approximate(Math.abs(value), bits));

const ofFinite =
  (compute: (value: number) => number) =>
  (value: number): number =>
    Number.isFinite(value) ? compute(value) : NaN;

export const sin = ofFinite(odd((value, bits) => wave(value, 0n, bits)));
export const cos = ofFinite((value) => nearestOfUnits((bits) => wave(Math.abs(value), 1n, bits)));
export const tan = ofFinite(odd(tangent));

/** Computes the angle of a direction in the first quadrant. */
const angleOf = (up: bigint, along: bigint, bits: bigint): bigint =>
  up < along ? arctangent((up << bits) / along, bits) : halfPi(bits) - arctangent((along << bits) / up, bits);

/** Returns the point of the unit circle at a height from 0 to 1. */
const pointAt = (value: number, bits: bigint): readonly [up: bigint, along: bigint] => {
  const { units, exponent } = binaryOf(value);
  const along = squareRoot(((1n << (-2n * exponent)) - units * units) << (2n * bits));
  return [units << bits, along];
};

const ofSine =
  (compute: (value: number) => number) =>
  (value: number): number =>
    Math.abs(value) <= 1 ? compute(value) : NaN;

export const asin = ofSine(odd((value, bits) => angleOf(...pointAt(value, bits), bits)));

export const acos = ofSine((value) =>
  nearestOfUnits((bits) => {
    const [along, up] = pointAt(Math.abs(value), bits);
    const angle = angleOf(up, along, bits);
    return value < 0 ? 2n * halfPi(bits) - angle : angle;
  }),
);

const isNegative = (value: number): boolean => value < 0 || Object.is(value, -0);

/** Scales two non-negative numbers to whole units of the same size. Beside an infinite one the other becomes 0. */
const legsOf = (y: number, x: number): readonly [up: bigint, along: bigint] => {
  if (y === Infinity || x === Infinity) return [y === Infinity ? 1n : 0n, x === Infinity ? 1n : 0n];
  const [up, along] = [binaryOf(y), binaryOf(x)];
  const shift = up.exponent - along.exponent;
  return shift > 0n ? [up.units << shift, along.units] : [up.units, along.units << -shift];
};

export const atan2 = (y: number, x: number): number => {
  if (Number.isNaN(y) || Number.isNaN(x)) return NaN;
  if (y === 0 && !isNegative(x)) return y;
  const [up, along] = legsOf(Math.abs(y), y === 0 ? 1 : Math.abs(x));
  const size = nearestOfUnits((bits) => {
    const angle = angleOf(up, along, bits);
    return isNegative(x) ? 2n * halfPi(bits) - angle : angle;
  });
  return isNegative(y) ? -size : size;
};

export const atan = (value: number): number => atan2(value, 1);
