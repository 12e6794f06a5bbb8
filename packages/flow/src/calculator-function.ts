/** What the calculator knows by name. */

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

/** As IEEE 754 raises: of 1 all powers are 1, of -1 those without end too; the language says NaN there. */
export const power = (base: number, exponent: number): number => {
  const isOne = base === 1 || (base === -1 && Math.abs(exponent) === Infinity);
  return isOne ? 1 : base ** exponent;
};

/** Halves go away from zero. */
const round = (value: number): number => {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
};

/** A number beside one that is none is the result. */
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
  ["sin", Math.sin],
  ["cos", Math.cos],
  ["tan", Math.tan],
  ["asin", Math.asin],
  ["acos", Math.acos],
  ["atan", Math.atan],
  ["log", Math.log10],
  ["log10", Math.log10],
  ["ln", Math.log],
  ["log2", Math.log2],
  ["exp", Math.exp],
]);

const ofTwo: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ["pow", power],
  ["min", unlessNaN(Math.min)],
  ["max", unlessNaN(Math.max)],
  ["atan2", Math.atan2],
]);

/** A function by its name and the number of its arguments. */
export const functionOf = (name: string, count: number): Compute | undefined => {
  const known = count === 1 ? ofOne.get(name) : count === 2 ? ofTwo.get(name) : undefined;
  return known as Compute | undefined;
};
