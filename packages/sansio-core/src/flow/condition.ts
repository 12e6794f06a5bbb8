/** Whether a condition holds. Its left sides are looked up, its right sides are text. */
import { floatOf } from "./number.ts";
import { type Bindings, exactOrText } from "./text.ts";

/** A comparison: what is looked up, how, with which text. */
export type Comparison = readonly [left: string, op: string, right: string];

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** The order of code points, in which surrogates stand last. */
const byCodePoints = (a: string, b: string): number => {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const x = a.charCodeAt(at);
    const y = b.charCodeAt(at);
    if (x === y) continue;
    return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
};

/** As numbers where both are, where one that is none compares with nothing; else as texts. */
const order = (left: string, right: string): number => {
  const [x, y] = [floatOf(left), floatOf(right)];
  if (x === undefined || y === undefined) return byCodePoints(left, right);
  return x === y ? 0 : x - y;
};

const isTruthy = (text: string): boolean => text !== "" && text !== "false" && text !== "0";

export const compares = ([left, op, right]: Comparison, bindings: Bindings): boolean => {
  const value = exactOrText(left, bindings);
  switch (op) {
    case "":
      return isTruthy(value);
    case "=":
    case "==":
      return value === right;
    case "!=":
      return value !== right;
    case ">":
      return order(value, right) > 0;
    case ">=":
      return order(value, right) >= 0;
    case "<":
      return order(value, right) < 0;
    case "<=":
      return order(value, right) <= 0;
    default:
      return false;
  }
};

/** The first comparison; and the others only where they are joined to it by `or`. */
export const holds = (
  first: Comparison,
  { conditions, conjunctor }: { readonly conditions: readonly Comparison[]; readonly conjunctor: string },
  bindings: Bindings,
): boolean =>
  compares(first, bindings) || (conjunctor === "or" && conditions.some((other) => compares(other, bindings)));
