/** The constants and functions of the calculator. */
import { acos, asin, atan, atan2, cos, exp, ln, log10, log2, pow, sin, tan } from "./elementary.ts";

export const constants: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["PI", Math.PI],
  ["e", Math.E],
  ["E", Math.E],
  ["tau", 2 * Math.PI],
  ["TAU", 2 * Math.PI],
  ["inf", Infinity],
]);

type Compute = (...args: readonly number[]) => number;

/** Rounds halves away from zero. */
const round = (value: number): number => {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
};

/** Returns the other argument if one of the two is NaN. */
const unlessNaN =
  (choose: (a: number, b: number) => number) =>
  (a: number, b: number): number => {
    if (Number.isNaN(a)) return b;
    return Number.isNaN(b) ? a : choose(a, b);
  };

const ofOne: ReadonlyMap<string, (value: number) => number> = new Map([
  ["sqrt", Math.sqrt],
  ["abs", Math.abs],
  ["round", round],
  ["ceil", Math.ceil],
  ["floor", Math.floor],
  ["sin", sin],
  ["cos", cos],
  ["tan", tan],
  ["asin", asin],
  ["acos", acos],
  ["atan", atan],
  ["log", log10],
  ["log10", log10],
  ["ln", ln],
  ["log2", log2],
  ["exp", exp],
]);

const ofTwo: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ["pow", pow],
  ["min", unlessNaN(Math.min)],
  ["max", unlessNaN(Math.max)],
  ["atan2", atan2],
]);

/** Looks up a function by its name and the number of its arguments. */
export const functionOf = (name: string, count: number): Compute | undefined => {
  const known = count === 1 ? ofOne.get(name) : count === 2 ? ofTwo.get(name) : undefined;
  return known as Compute | undefined;
};
