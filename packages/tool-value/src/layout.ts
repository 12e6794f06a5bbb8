/** How codecs are made of others: for those who look for the values in what a codec has encoded. */
import type * as t from "io-ts";
import { type Json, type JsonObject, type Path, setKey } from "./json.ts";

type Part = t.Mixed;

/** What stands in a codec's encoded form. */
type Layout =
  /** A value: nobody but its owner knows what it holds. */
  | { readonly type: "value" }
  | { readonly type: "items"; readonly of: Part }
  | { readonly type: "fields"; readonly of: ReadonlyMap<string, Part> }
  /** `tag`: the field that says which of them it is; without one it is the only key. A member may not be made yet. */
  | {
      readonly type: "variants";
      readonly tag?: string;
      readonly names: () => readonly string[];
      readonly of: (name: string) => Part | undefined;
    }
  /** The same as another codec's, which may not be made yet. */
  | { readonly type: "as"; readonly of: () => Part };

const layouts = new WeakMap<object, Layout>();

export const laidOut = <C extends object>(codec: C, layout: Layout): C => {
  layouts.set(codec, layout);
  return codec;
};

/** How a codec is made of others; nothing, where it is made of none. */
export const layoutOf = (codec: Part): Layout | undefined => layouts.get(codec);

export const partsOf = (codecs: Iterable<readonly [string, unknown]>): ReadonlyMap<string, Part> =>
  new Map(codecs) as ReadonlyMap<string, Part>;

/** Gives what takes the place of a value. */
export type Change = (value: Json, path: Path) => Json;

const isObject = (json: Json): json is JsonObject => typeof json === "object" && json !== null && !Array.isArray(json);

/** A copy with other parts, or the same where none is another. */
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
  { tag, names, of }: Layout & { readonly type: "variants" },
  json: Json,
  change: Change,
  path: Path,
): Json => {
  if (!isObject(json)) return json;
  if (tag === undefined)
    return withParts(json, names(), (part, key) => within(of(key) as Part, part, change, [...path, key]));
  const member = of(json[tag] as string);
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
      return isObject(json)
        ? withParts(json, [...layout.of.keys()], (part, key) =>
            within(layout.of.get(key) as Part, part, change, [...path, key]),
          )
        : json;
    case "variants":
      return inVariant(layout, json, change, path);
    case "as":
      return within(layout.of(), json, change, path);
    case undefined:
      return json;
  }
};

/**
 * What a codec has encoded, with other values in it: `change` is asked for each, in the order of the record. What holds
 * none is kept as it is; where nothing changes the result is the very same.
 */
export const mapValues = (codec: Part, encoded: Json, change: Change): Json => within(codec, encoded, change, []);
