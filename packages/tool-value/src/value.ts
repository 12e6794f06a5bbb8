/**
 * Conversions between values and JSON, equality, and the attachments of a value. Input from outside goes through `decode`,
 * `fromJs` or `jsonFromJs`, which return an error. The other functions trust their input.
 *
 * All walks use a stack of their own, so that no depth of value overflows JavaScript's.
 */
import * as E from "fp-ts/lib/Either.js";
import { Attachment, AttachmentRef } from "./attachment.ts";
import { type Codec, codecFrom } from "./codec.ts";
import { type Json, type ValueError, describe, setKey, sortedKeys } from "./json.ts";
import { laidOut } from "./layout.ts";
import { type Limits, defaultLimits, noLimits } from "./limits.ts";
import { type ToolObject, type ToolValue, tagKey } from "./model.ts";
import { isNormal } from "./normal-form.ts";
import { type Form, normalize, normalizeToJson } from "./normalize.ts";
import { owned } from "./record.ts";
import { canonicalJson } from "./write.ts";

/** Reads JSON as an encoded value, tags included. Never throws. */
export const decode = (json: unknown, limits: Limits = defaultLimits): E.Either<ValueError, ToolValue> =>
  normalize(json, "encoded", limits);

/** Takes a value that a JavaScript caller built, attachments included. Tags have no meaning in it. Never throws. */
export const fromJs = (input: unknown, limits: Limits = defaultLimits): E.Either<ValueError, ToolValue> =>
  normalize(input, "value", limits);

const trusted = (input: unknown, form: Form): ToolValue => {
  const result = normalize(input, form, noLimits);
  if (E.isLeft(result)) throw new TypeError(`not a value: ${describe(result.left)}`);
  return result.right;
};

/** Takes JSON literally: an object with the reserved key stays an object. Throws a TypeError only if it is not JSON. */
export const lift = (json: Json): ToolValue => trusted(json, "json");

const written = (value: ToolValue, isEscaped: boolean): Json => {
  const open: { readonly source: object; readonly target: Json[] | { [key: string]: Json } }[] = [];
  const place = (v: ToolValue): Json => {
    if (typeof v !== "object" || v === null) return v;
    if (Attachment.is(v)) return { [tagKey]: "attachment", ref: lift(AttachmentRef.encode(v.ref) as Json) as Json };
    const target = Array.isArray(v) ? [] : {};
    open.push({ source: v, target });
    const escapes = isEscaped && Object.hasOwn(v, tagKey) && !Array.isArray(v);
    return escapes ? { [tagKey]: "object", entries: target } : target;
  };
  const root = place(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { source, target } = next;
    if (Array.isArray(target)) for (const child of source as readonly ToolValue[]) target.push(place(child));
    else for (const key of sortedKeys(source)) setKey(target, key, place((source as ToolObject)[key] as ToolValue));
  }
  return root;
};

/** Encodes a value as JSON: attachments become tags, objects with the reserved key are escaped. */
export const encode = (value: ToolValue): Json => written(value, true);

const tagged = (value: ToolValue): Json => written(value, false);

/** Takes what a JavaScript caller built, as JSON: attachments become tags, nothing is escaped. Never throws. */
export const jsonFromJs = (input: unknown, limits: Limits = defaultLimits): E.Either<ValueError, Json> =>
  normalizeToJson(input, tagged, limits);

const isContainer = (value: ToolValue): value is readonly ToolValue[] | ToolObject =>
  typeof value === "object" && value !== null && !Attachment.is(value);

/** Numbers and bigints are compared by their texts: 1e16 equals 10000000000000000n, and 0 equals -0. */
const isNumeric = (value: ToolValue): value is number | bigint =>
  typeof value === "number" || typeof value === "bigint";

const equalLeaves = (a: ToolValue, b: ToolValue): boolean => {
  if (isNumeric(a) && isNumeric(b)) return `${a}` === `${b}`;
  if (Attachment.is(a) && Attachment.is(b)) return canonicalJson(a) === canonicalJson(b);
  return a === b;
};

type Pair = readonly [ToolValue, ToolValue];

/** Pairs the children of two containers. Returns undefined if the containers differ in kind or keys. */
const pairs = (a: readonly ToolValue[] | ToolObject, b: readonly ToolValue[] | ToolObject): Pair[] | undefined => {
  if (Array.isArray(a) !== Array.isArray(b)) return undefined;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length || !keys.every((key) => Object.hasOwn(b, key))) return undefined;
  return keys.map((key) => [(a as ToolObject)[key] as ToolValue, (b as ToolObject)[key] as ToolValue]);
};

/** Tells whether two values have the same canonical text. */
export const equal = (a: ToolValue, b: ToolValue): boolean => {
  const rest: Pair[] = [[a, b]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [x, y] = next;
    if (!isContainer(x) || !isContainer(y)) {
      if (!equalLeaves(x, y)) return false;
      continue;
    }
    const below = x === y ? [] : pairs(x, y);
    if (below === undefined) return false;
    for (const pair of below) rest.push(pair);
  }
  return true;
};

const children = (value: ToolValue): readonly ToolValue[] => {
  if (!isContainer(value)) return [];
  return Array.isArray(value) ? value : sortedKeys(value).map((key) => (value as ToolObject)[key] as ToolValue);
};

/** Lists the attachments in a value, repetitions included: depth first, arrays in order, objects in key order. */
export const attachments = (value: ToolValue): readonly AttachmentRef[] => {
  const refs: AttachmentRef[] = [];
  const rest: ToolValue[] = [value];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (Attachment.is(next)) refs.push(next.ref);
    const below = children(next);
    for (let i = below.length - 1; i >= 0; i--) rest.push(below[i] as ToolValue);
  }
  return refs;
};

const codecOf = <A extends ToolValue>(name: string, form: Form, write: (value: A) => Json): Codec<A> =>
  codecFrom<A>(
    name,
    (u): u is A => E.isRight(normalize(u, form === "encoded" ? "value" : form, noLimits)),
    (u, c) => {
      const result = normalize(u, form, noLimits);
      if (E.isRight(result)) return E.right(result.right as A);
      const { message, path } = result.left;
      return E.left([{ value: u, context: c, message, below: path }]);
    },
    write,
  );

/** The codec of a value inside a typed record, where it is encoded. */
export const toolValue: Codec<ToolValue> = laidOut(codecOf<ToolValue>("a tool value", "encoded", encode), {
  type: "value",
});
const copied: Codec<Json> = codecOf<Json>("JSON", "json", (value) => lift(value) as Json);
/** The codec of JSON inside a typed record, where it is literal. JSON that nobody else refers to is not copied. */
export const json: Codec<Json> = laidOut(
  codecFrom<Json>(
    copied.name,
    copied.is,
    (u, c) => (c === owned && isNormal(u) ? E.right(u) : copied.validate(u, c)),
    copied.encode,
  ),
  { type: "value" },
);
