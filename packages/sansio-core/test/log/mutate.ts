/** Spoils events and lines of logs, in the ways that disks, networks, old programs and attackers do. */
import type { Json, JsonObject } from "@pawl/tool-value";
import type { Dice } from "../arbitrary/dice.ts";

const deep = (depth: number): Json => {
  let json: Json = 1;
  for (let i = 0; i < depth; i++) json = i % 2 === 0 ? [json] : { a: json };
  return json;
};

const oddKeys = ["__proto__", "constructor", "toString", "", "$lash_tool_value", "type", "0", "é😀"];

/** Returns what may stand where something else was expected. */
const odd = (dice: Dice): Json =>
  dice.pick<() => Json>([
    () => null,
    () => dice.below(2) === 0,
    () => dice.pick([0, -1, 1.5, 2 ** 31, 2 ** 53 - 1, -(2 ** 53), 1e300, 5e-324]),
    () => dice.pick([2n ** 53n, -(2n ** 70n), 10n ** 400n]),
    () => dice.pick(["", " ", "r:c1", "r", "1", "__proto__", "\0", "￿", "x".repeat(5000)]),
    () => [],
    () => ({}),
    () => Object.fromEntries(oddKeys.map((key) => [key, 1])),
    () => JSON.parse('{"__proto__":{"type":"clock.ticked"}}') as Json,
    () => ({ $lash_tool_value: dice.pick<Json>(["attachment", "object", "else", 1]), entries: {}, ref: { id: 1 } }),
    () => deep(dice.pick([3, 40, 600])),
    () => (dice.isUnder(5) ? deep(20_000) : deep(300)),
  ])();

const isContainer = (json: Json): json is readonly Json[] | JsonObject => typeof json === "object" && json !== null;

/** The steps into a random place of a value. */
const placeIn = (dice: Dice, json: Json): readonly (string | number)[] => {
  const path: (string | number)[] = [];
  let at = json;
  while (isContainer(at)) {
    const steps = Array.isArray(at) ? [...at.keys()] : Object.keys(at);
    if (steps.length === 0 || (path.length > 0 && dice.isUnder(30))) return path;
    const step = dice.pick<string | number>(steps);
    path.push(step);
    at = (at as JsonObject)[step] as Json;
  }
  return path;
};

const atPath = (json: Json, path: readonly (string | number)[]): Json => {
  let at = json;
  for (const step of path) at = (at as JsonObject)[step] as Json;
  return at;
};

/** A copy with the value at a place put in by hand; undefined takes the place away. */
const withAt = (json: Json, path: readonly (string | number)[], value: Json | undefined): Json => {
  const [step, ...rest] = path;
  if (step === undefined) return value ?? null;
  const below = rest.length === 0 ? value : withAt(atPath(json, [step]), rest, value);
  if (Array.isArray(json))
    return json.flatMap((item: Json, i) => (i !== step ? [item] : below === undefined ? [] : [below]));
  const entries = Object.entries(json as JsonObject).flatMap(([key, item]): [string, Json][] => {
    if (key !== step) return [[key, item]];
    return below === undefined ? [] : [[key, below]];
  });
  return Object.fromEntries(entries);
};

/** An event with a field of the wrong kind, gone, twice, under another name, or swapped with another. */
export const mutateJson = (dice: Dice, json: Json): Json => {
  const path = placeIn(dice, json);
  const other = placeIn(dice, json);
  switch (dice.below(6)) {
    case 0:
      return withAt(json, path, undefined);
    case 1: {
      const isApart = path.some((step, i) => other[i] !== step) && other.some((step, i) => path[i] !== step);
      const [a, b] = [atPath(json, path), atPath(json, other)];
      return isApart ? withAt(withAt(json, path, b), other, a) : withAt(json, path, [a]);
    }
    case 2:
      return withAt(json, path, atPath(json, other));
    case 3: {
      const above = path.slice(0, -1);
      const parent = atPath(json, above);
      if (Array.isArray(parent) || !isContainer(parent)) return withAt(json, path, odd(dice));
      return withAt(json, above, { ...parent, [dice.pick(oddKeys)]: odd(dice) });
    }
    default:
      return withAt(json, path, odd(dice));
  }
};

const flip = (dice: Dice, text: string): string => {
  const at = dice.below(text.length);
  const unit = text.charCodeAt(at) ^ (1 << dice.below(8));
  return text.slice(0, at) + String.fromCharCode(unit) + text.slice(at + 1);
};

const pieces = ["\n", "\r\n", "\0", '"', "\\", "{", "}", "[", "]", ",", ":", "\ud800", "\u2028", "1e999", "-0", "null"];
const long = (dice: Dice): string =>
  dice.pick([() => "[".repeat(5000), () => "9".repeat(400), () => '{"a":'.repeat(700), () => "\\u0000".repeat(300)])();

/** A log's text with bits flipped, pieces cut out, put in, or put elsewhere. */
export const mutateText = (dice: Dice, text: string): string => {
  if (text === "") return dice.pick(pieces);
  const [a, b] = [dice.below(text.length + 1), dice.below(text.length + 1)];
  const [start, end] = a < b ? [a, b] : [b, a];
  switch (dice.below(8)) {
    case 0:
      return text.slice(0, start);
    case 1:
      return text.slice(0, start) + text.slice(dice.isUnder(50) ? start + 1 : end);
    case 2:
      return text.slice(0, start) + dice.pick(pieces) + text.slice(start);
    case 3:
      return text.slice(0, start) + (dice.isUnder(20) ? long(dice) : dice.pick(pieces)) + text.slice(start + 1);
    case 4:
      return text.slice(0, end) + text.slice(start, end) + text.slice(end);
    default:
      return flip(dice, text);
  }
};

/** A log with a line gone, twice, or in the place of another. */
export const mutateLines = (dice: Dice, lines: readonly string[]): readonly string[] => {
  const [i, j] = [dice.below(lines.length), dice.below(lines.length)];
  switch (dice.below(3)) {
    case 0:
      return lines.filter((_, at) => at !== i);
    case 1:
      return [...lines.slice(0, i), lines[j] as string, ...lines.slice(i)];
    default:
      return lines.map((line, at) => lines[at === i ? j : at === j ? i : at] ?? line);
  }
};
