/**
 * The structure of codecs: which parts a codec is composed of, and which of them are values.
 *
 * Codecs are opaque functions, but some code has to find the values inside an encoded record: to move long ones out of the
 * log, for example. So every combinator registers its layout here, and `mapValues` walks an encoded record along it.
 */
import type * as t from "io-ts";
import { type Json, type JsonObject, type Path, setKey, isObject } from "./json.ts";

/** Any codec. */
export type AnyCodec = t.Mixed;
type Part = AnyCodec;

/** The structure of a codec's encoded form. */
export type Layout =
  /** A value: opaque to everybody but its owner. */
  | { readonly type: "value" }
  | { readonly type: "items"; readonly of: Part; readonly isKeyed?: boolean }
  /** `mayMiss` has the names of the fields that may be absent. */
  | { readonly type: "fields"; readonly of: ReadonlyMap<string, Part>; readonly mayMiss: ReadonlySet<string> }
  /** `tag` is the field that selects the member; without it, the only key does, or the text is one of `units`. */
  | {
      readonly type: "variants";
      readonly tag?: string;
      readonly of: ReadonlyMap<unknown, Part>;
      readonly units?: readonly string[];
    }
  /** One of a few texts. */
  | { readonly type: "names"; readonly of: readonly string[] }
  /** The layout of another codec, which may be defined later. */
  | { readonly type: "as"; readonly of: () => Part; readonly isNullable?: boolean };

const layouts = new WeakMap<object, Layout>();

/** Registers the layout of a codec, and returns the codec. */
/* @__NO_SIDE_EFFECTS__ */
export const laidOut = <C extends object>(codec: C, layout: Layout): C => {
  layouts.set(codec, layout);
  return codec;
};

/** Returns the layout of a codec; undefined for a scalar. */
export const layoutOf = (codec: Part): Layout | undefined => layouts.get(codec);

export const partsOf = (codecs: Iterable<readonly [string, unknown]>): ReadonlyMap<string, Part> =>
  new Map(codecs) as ReadonlyMap<string, Part>;

/** Returns the replacement of a value. */
export type Change = (value: Json, path: Path) => Json;

/** Replaces the parts under some keys. Returns the same object if nothing changes. */
const withParts = (json: JsonObject, keys: readonly string[], of: (part: Json, key: string) => Json): Json => {
  let copy: { [key: string]: Json } | undefined;
  for (const key of keys) {
    if (!Object.hasOwn(json, key)) continue;
    const changed = of(json[key] as Json, key);
    if (changed === json[key]) continue;
    copy ??= { ...json };
    setKey(copy, key, changed);
  }
  return copy ?? json;
};

const inFields = (parts: ReadonlyMap<string, Part>, json: JsonObject, change: Change, path: Path): Json =>
  withParts(json, [...parts.keys()], (part, key) => within(parts.get(key) as Part, part, change, [...path, key]));

const inItems = (codec: Part, json: Json, change: Change, path: Path): Json => {
  if (!Array.isArray(json)) {
    return isObject(json)
      ? withParts(json, Object.keys(json), (item, key) => within(codec, item, change, [...path, key]))
      : json;
  }
  const items = json.map((item, i) => within(codec, item as Json, change, [...path, i]));
  return items.some((item, i) => item !== json[i]) ? items : json;
};

const inVariant = (
  { tag, of }: Layout & { readonly type: "variants" },
  json: Json,
  change: Change,
  path: Path,
): Json => {
  if (!isObject(json)) return json;
  if (tag === undefined) return inFields(of as ReadonlyMap<string, Part>, json, change, path);
  const member = of.get(json[tag]);
  return member === undefined ? json : within(member, json, change, path);
};

const within = (codec: Part, json: Json, change: Change, path: Path): Json => {
  const layout = layouts.get(codec);
  switch (layout?.type) {
    case "value":
      return change(json, path);
    case "items":
      return inItems(layout.of, json, change, path);
    case "fields":
      return isObject(json) ? inFields(layout.of, json, change, path) : json;
    case "variants":
      return inVariant(layout, json, change, path);
    case "as":
      return within(layout.of(), json, change, path);
    case "names":
    case undefined:
      return json;
  }
};

/**
 * Replaces the values inside an encoded record by what `change` returns for each, in the order of the record. Parts without
 * values are shared with the input; if nothing changes, the result is the input itself.
 */
export const mapValues = (codec: Part, encoded: Json, change: Change): Json => within(codec, encoded, change, []);
