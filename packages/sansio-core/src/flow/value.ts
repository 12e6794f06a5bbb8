/** Values of flows: texts as numbers and truths, and how conditions compare them. */
import { type Json, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type Bindings, exactOrText, textLimits, trimmed, withoutLast } from "./text.ts";

const integer = /^(?<sign>[+-]?)0*(?<digits>[0-9]+)$/;
const minInt = -(2n ** 63n);
const maxInt = 2n ** 63n - 1n;

const intOf = (text: string): Json | undefined => {
  const { sign = "", digits = "" } = integer.exec(text)?.groups ?? {};
  if (digits === "" || digits.length > 19) return undefined;
  const value = BigInt(`${sign === "-" ? "-" : ""}${digits}`);
  if (value < minInt || value > maxInt) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
};

const boolOf = (text: string): Json | undefined => (text === "true" ? true : text === "false" ? false : undefined);

/** One text as a type that holds no other. */
const scalar = (text: string, type: string): Json => {
  switch (type) {
    case "Int":
      return intOf(text) ?? text;
    case "Float":
      return finiteOf(text) ?? text;
    case "Bool":
      return boolOf(text) ?? text;
    default:
      return text;
  }
};

const depths: { readonly [bracket: string]: number } = { "[": 1, "{": 1, "]": -1, "}": -1 };

/** The items between commas that stand in no quotes and no brackets. */
const items = (inside: string): readonly string[] => {
  const found: string[] = [];
  let from = 0;
  let depth = 0;
  let quote = "";
  for (let at = 0; at < inside.length; at++) {
    const unit = inside[at] as string;
    if (quote !== "") quote = unit === quote ? "" : quote;
    else if (unit === '"' || unit === "'") quote = unit;
    else if (unit === "," && depth === 0) {
      found.push(inside.slice(from, at));
      from = at + 1;
    } else depth = Math.max(0, depth + (depths[unit] ?? 0));
  }
  return [...found, inside.slice(from)];
};

const unquoted = (item: string): string => {
  const isQuoted = item.length >= 2 && (item[0] === '"' || item[0] === "'") && item[item.length - 1] === item[0];
  return isQuoted ? item.slice(1, -1) : item;
};

const list = (value: string, inner: string): Json => {
  const text = trimmed(value);
  if (!text.startsWith("[") || !text.endsWith("]") || text.length < 2) return [scalar(text, inner)];
  const json = parse(text, textLimits);
  if (E.isRight(json)) return json.right;
  const inside = text.slice(1, -1);
  return trimmed(inside) === "" ? [] : items(inside).map((item) => scalar(unquoted(trimmed(item)), inner));
};

const declared = (type: string): string => trimmed(withoutLast(trimmed(type), "?"));

/** The name in front of what a type is made of, and that. */
const partsOf = (type: string): { readonly base: string; readonly inner: string } => {
  const text = declared(type);
  const open = text.indexOf("<");
  if (open === -1) return { base: text, inner: "String" };
  return { base: trimmed(text.slice(0, open)), inner: trimmed(withoutLast(text.slice(open + 1), ">")) };
};

/** Returns whether a type is one of numbers with a fraction. */
export const isFloat = (type: string): boolean => partsOf(type).base === "Float";

/** A text as its declared type; without one it stays text. */
export const coerce = (value: string, type?: string): Json => {
  if (type === undefined) return value;
  const { base, inner } = partsOf(type);
  return base === "List" ? list(value, inner) : scalar(value, base);
};

// Floats as a flow reads and writes them: decimal text, the same on every platform.

const finite = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const special = /^(?<sign>[+-]?)(?:(?<infinite>inf|infinity)|nan)$/i;

/** A finite decimal number, without spaces around it. */
export const finiteOf = (text: string): number | undefined => {
  const value = finite.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
};

/** Any float: also what is infinite, too large, or not a number. */
export const floatOf = (text: string): number | undefined => {
  if (finite.test(text)) return Number(text);
  const groups = special.exec(text)?.groups;
  if (groups === undefined) return undefined;
  if (groups["infinite"] === undefined) return NaN;
  return groups["sign"] === "-" ? -Infinity : Infinity;
};

/** The shortest digits that read back as the number, and where the point stands among them. */
const digitsOf = (value: number): { readonly digits: string; readonly point: number } => {
  const [mantissa = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  return { digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
};

const placed = ({ digits, point }: ReturnType<typeof digitsOf>): string => {
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return digits + "0".repeat(point - digits.length);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
};

/** A float without an exponent at any size; what is integral has no point. */
export const decimalText = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  const sign = value < 0 ? "-" : "";
  if (!Number.isFinite(value)) return `${sign}inf`;
  return value === 0 ? "0" : sign + placed(digitsOf(value));
};

/** A finite float as JSON that shows it is one: `5.0`, `1e21`. */
export const floatJson = (value: number): string => {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const parts = digitsOf(value);
  const { digits, point } = parts;
  if (point > 16 || point <= -5) {
    const mantissa = digits.length === 1 ? digits : `${digits.slice(0, 1)}.${digits.slice(1)}`;
    return `${sign}${mantissa}e${point - 1}`;
  }
  return `${sign}${placed(parts)}${point >= digits.length ? ".0" : ""}`;
};

// Conditions. Left sides are looked up, right sides are text.

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
