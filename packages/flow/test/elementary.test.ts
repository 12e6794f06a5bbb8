/** Elementary functions, compared with MPFR (`elementary.txt`, made by `elementary.py`), a second method, and IEEE 754. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as elementary from "../src/native/elementary.ts";
import { expOf, lnOf, over, sineAndCosine, unitsOf } from "./elementary-reference.ts";

const { acos, asin, atan, atan2, cos, exp, ln, log10, log2, pow, sin, tan } = elementary;
const functions = new Map<string, (...args: readonly number[]) => number>(
  Object.entries(elementary) as readonly (readonly [string, (...args: readonly number[]) => number])[],
);
const compute = (name: string, args: readonly number[]): number => functions.get(name)?.(...args) as number;

const words: ReadonlyMap<string, number> = new Map([
  ["inf", Infinity],
  ["-inf", -Infinity],
  ["pi", Math.PI],
  ["pi/2", Math.PI / 2],
  ["-pi/2", -Math.PI / 2],
  ["pi/4", Math.PI / 4],
  ["3pi/4", 2.356194490192345],
]);
const numberOf = (word: string): number => words.get(word) ?? Number(word);

describe("elementary functions, for arguments that are hard to round", () => {
  const lines = readFileSync(join(import.meta.dirname, "elementary.txt"), "utf8")
    .trim()
    .split("\n")
    .slice(1);
  const names = [...new Set(lines.map((line) => line.split(" ", 1)[0] as string))];

  it("are all in the table", () => {
    expect(names.toSorted()).toEqual([...functions.keys()].toSorted());
    expect(lines.length).toBeGreaterThan(350);
  });

  it.each(names)("%s agrees with MPFR", (name) => {
    const rows = lines
      .filter((line) => line.startsWith(`${name} `))
      .map((line) => line.split(" ").slice(1).map(numberOf));
    const results = rows.map((row) => [...row.slice(0, -1), compute(name, row.slice(0, -1))]);
    expect(results).toEqual(rows);
  });
});

/** Returns the double that is so many steps after this one, or before it for a negative count. */
const after = (value: number, count: bigint): number => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value < 0 ? -count : count));
  return view.getFloat64(0);
};

/** Returns twice the midpoints between a double and its neighbours. */
const middles = (value: number): readonly [below: bigint, above: bigint] => [
  unitsOf(value) + unitsOf(after(value, -1n)),
  unitsOf(value) + unitsOf(after(value, 1n)),
];

const isBetween = (low: bigint | undefined, value: bigint, high: bigint | undefined): boolean =>
  low !== undefined && high !== undefined && low <= value && value <= high;

const isNearest = (value: number, truth: bigint): boolean => {
  const [below, above] = middles(value);
  return isBetween(below, 2n * truth, above);
};

const scaled = (least: number, most: number): fc.Arbitrary<number> =>
  fc
    .tuple(fc.double({ min: 1, max: 2, maxExcluded: true, noNaN: true }), fc.integer({ min: least, max: most }))
    .map(([value, twos]) => value * 2 ** twos);
const signed = (size: fc.Arbitrary<number>): fc.Arbitrary<number> =>
  fc.tuple(size, fc.boolean()).map(([value, isBelow]) => (isBelow ? -value : value));
const holds = (numbers: fc.Arbitrary<number>, law: (value: number) => boolean): void =>
  fc.assert(fc.property(numbers, law), { numRuns: 200 });

/** Returns true if the slightly smaller angle passes right of the point and the slightly larger one left of it. */
const pointsAt = (y: number, x: number): boolean => {
  const [right, left] = middles(atan2(y, x)).map((middle) => {
    const [sine, cosine] = sineAndCosine(middle / 2n);
    return sine * unitsOf(x) - cosine * unitsOf(y);
  });
  return isBetween(right, 0n, left);
};

describe("elementary functions, compared with a second method", () => {
  it("exp is the nearest double", () => {
    holds(signed(scaled(-60, 7)), (value) => isNearest(exp(value), expOf(unitsOf(value))));
  });

  it("logarithms are the nearest doubles, also close to 1", () => {
    const [two, ten] = [lnOf(unitsOf(2), Math.LN2), lnOf(unitsOf(10), Math.LN10)];
    const besideOne = signed(scaled(-52, -2)).map((distance) => 1 + distance);
    const far = scaled(-200, 200).filter((value) => value !== 1);
    holds(fc.oneof(far, besideOne), (value) => {
      const truth = lnOf(unitsOf(value), Math.log(value));
      const toBases = isNearest(log2(value), over(truth, two)) && isNearest(log10(value), over(truth, ten));
      return toBases && isNearest(ln(value), truth);
    });
  });

  it("sin, cos and tan are the nearest doubles", () => {
    holds(signed(scaled(-60, 60)), (value) => {
      const [sine, cosine] = sineAndCosine(unitsOf(value));
      return isNearest(sin(value), sine) && isNearest(cos(value), cosine) && isNearest(tan(value), over(sine, cosine));
    });
  });

  it("asin and acos lie between angles whose sines and cosines are too small and too large", () => {
    const value = signed(
      fc.oneof(
        scaled(-60, -1),
        scaled(-40, -2).map((distance) => 1 - distance),
      ),
    );
    holds(value, (height) => {
      const [low, high] = middles(asin(height)).map((middle) => sineAndCosine(middle / 2n)[0]);
      const [right, left] = middles(acos(height)).map((middle) => sineAndCosine(middle / 2n)[1]);
      return isBetween(low, unitsOf(height), high) && isBetween(left, unitsOf(height), right);
    });
  });

  it("atan2 lies between directions to the right and to the left of the point", () => {
    const leg = signed(scaled(-60, 60));
    fc.assert(fc.property(leg, leg, pointsAt), { numRuns: 200 });
  });

  it("pow is the nearest double", () => {
    fc.assert(
      fc.property(scaled(-8, 8), signed(scaled(-20, 4)), (base, exponent) => {
        const truth = (lnOf(unitsOf(base), Math.log(base)) * unitsOf(exponent)) >> 640n;
        return isNearest(pow(base, exponent), expOf(truth));
      }),
      { numRuns: 200 },
    );
  });
});

const anything = fc.double();
const ordered = (of: (value: number) => number, value: number): boolean => !(of(after(value, 1n)) < of(value));

describe("elementary functions, for any double", () => {
  it("are odd or even", () => {
    for (const of of [sin, tan, asin, atan]) holds(anything, (value) => Object.is(of(-value), -of(value)));
    holds(anything, (value) => Object.is(cos(-value), cos(value)));
    const both = fc.tuple(anything, anything);
    fc.assert(fc.property(both, ([y, x]) => Object.is(atan2(-y, x), -atan2(y, x))));
  });

  it("are monotonic from one double to the next", () => {
    const positive = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true, minExcluded: true, max: 1e308 });
    for (const of of [ln, log2, log10, exp, atan, (value: number) => pow(value, 0.3)]) {
      holds(positive, (value) => ordered(of, value));
    }
    const inside = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    holds(inside, (value) => ordered(asin, value) && ordered((height) => -acos(height), value));
  });

  it("are inverse to each other, up to rounding", () => {
    const power = signed(scaled(-3, 9)).filter((value) => Math.abs(value) < 700);
    holds(power, (value) => Math.abs(ln(exp(value)) - value) <= 2 ** -52 * Math.max(1, Math.abs(value)));
    holds(scaled(-500, 500), (value) => Math.abs(exp(ln(value)) / value - 1) < 2 ** -52 * 400);
    holds(signed(scaled(-20, -1)), (value) => Math.abs(sin(asin(value)) - value) <= 2 ** -52 * Math.abs(value));
  });

  it("agree with roots and products that are exact or rounded once", () => {
    holds(scaled(-1000, 1000), (value) => pow(value, 0.5) === Math.sqrt(value) && pow(value, 1) === value);
    holds(signed(scaled(-500, 500)), (value) => pow(value, 2) === value * value && pow(value, -1) === 1 / value);
  });

  it("are fast", () => {
    const start = performance.now();
    const ends = [Number.MAX_VALUE, -Number.MAX_VALUE, 1e300, 1e18, 5e-324, -5e-324];
    for (const [name, value] of [...functions.keys()].flatMap((key) => ends.map((one) => [key, one] as const))) {
      compute(name, [value, value]);
      compute(name, [value, 1e18]);
      compute(name, [1 + 2 ** -52, value]);
    }
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe("elementary functions, for the special values of IEEE 754", () => {
  it.each([
    ["sin", "0=0 -0=-0 inf=nan -inf=nan nan=nan"],
    ["cos", "0=1 -0=1 inf=nan -inf=nan nan=nan"],
    ["tan", "0=0 -0=-0 inf=nan -inf=nan nan=nan"],
    ["asin", "0=0 -0=-0 1=pi/2 -1=-pi/2 1.0000000000000002=nan inf=nan nan=nan"],
    ["acos", "1=0 0=pi/2 -0=pi/2 -1=pi -1.0000000000000002=nan -inf=nan nan=nan"],
    ["atan", "0=0 -0=-0 1=pi/4 inf=pi/2 -inf=-pi/2 nan=nan"],
    ["exp", "0=1 -0=1 inf=inf -inf=0 nan=nan"],
    ["ln", "1=0 0=-inf -0=-inf -1=nan inf=inf -inf=nan nan=nan"],
    ["log2", "1=0 0=-inf -0=-inf -1=nan inf=inf -inf=nan nan=nan 8=3 5e-324=-1074"],
    ["log10", "1=0 0=-inf -0=-inf -1=nan inf=inf -inf=nan nan=nan 1000=3 1e22=22"],
    ["atan2", "0,1=0 0,0=0 0,inf=0 0,-0=pi 0,-1=pi 0,-inf=pi -0,1=-0 -0,0=-0 1,0=pi/2 1,-0=pi/2 -1,0=-pi/2"],
    ["atan2", "1,inf=0 -1,inf=-0 1,-inf=pi inf,1=pi/2 inf,-1=pi/2 inf,0=pi/2 -inf,1=-pi/2 inf,inf=pi/4 inf,-inf=3pi/4"],
    ["atan2", "nan,1=nan nan,0=nan inf,nan=nan 0,nan=nan nan,nan=nan"],
    ["pow", "1,nan=1 1,inf=1 -1,inf=1 -1,-inf=1 nan,0=1 nan,-0=1 inf,0=1 nan,1=nan 2,nan=nan -1,3=-1 -1,1e300=1"],
    ["pow", "0,3=0 -0,3=-0 -0,2=0 0,-3=inf -0,-3=-inf -0,-2=inf 0,inf=0 0,-inf=inf 0,0.5=0 -0,-0.5=inf"],
    ["pow", "2,inf=inf 2,-inf=0 0.5,inf=0 0.5,-inf=inf inf,2=inf inf,-2=0 -inf,3=-inf -inf,2=inf -inf,-3=-0"],
    ["pow", "-8,0.3=nan -2,3=-8 -2,1e300=inf -2,1075=-inf -2,-1075=-0 -2,-1074=5e-324"],
  ])("%s: %s", (name, cases) => {
    const rows = cases.split(" ").map((row) => row.split(/[=,]/).map(numberOf));
    expect(rows.map((row) => [...row.slice(0, -1), compute(name, row.slice(0, -1))])).toEqual(rows);
  });
});
