/** Texts as the types that a tool declares for them. Nothing is refused: what does not fit stays text. */
import { type Json, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { finiteOf } from "./number.ts";
import { textLimits, trimmed, withoutLast } from "./text.ts";

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

/** Whether a type is that of numbers with a fraction, so that whoever writes one shows it. */
export const isFloat = (type: string): boolean => partsOf(type).base === "Float";

/** A text as its declared type; without one it stays text. */
export const coerce = (value: string, type?: string): Json => {
  if (type === undefined) return value;
  const { base, inner } = partsOf(type);
  return base === "List" ? list(value, inner) : scalar(value, base);
};
