/** What the codec of events takes, in words: the fields of each type, and what stands in them. */
import { EventCodec } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { layoutOf } from "../../packages/tool-value/src/layout.ts";

type Codec = Parameters<typeof layoutOf>[0];
type Variants = Extract<ReturnType<typeof layoutOf>, { readonly type: "variants" }>;

/** Of one of a few texts: which ones; it says so when it is given another. */
const leaf = (codec: Codec): string => {
  const refused = codec.decode("?");
  const message = E.isLeft(refused) ? (refused.left[0]?.message ?? "") : "";
  return `${codec.name}${/^unknown variant `\?`, expected(?<texts> .*)$/.exec(message)?.groups?.["texts"] ?? ""}`;
};

const membersOf = ({ of }: Variants): readonly (readonly [string, Codec])[] =>
  [...of].map(([name, codec]) => [String(name), codec]);

/** A codec within itself is told by its name. */
const shapeIn = (codec: Codec, around: readonly Codec[]): string => {
  const layout = layoutOf(codec);
  if (layout === undefined || layout.type === "names") return leaf(codec);
  if (around.includes(codec)) return codec.name;
  const inner = (part: Codec): string => shapeIn(part, [...around, codec]);
  const each = (parts: Iterable<readonly [string, Codec]>): string =>
    [...parts].map(([key, part]) => `${key}: ${inner(part)}`).join(", ");
  switch (layout.type) {
    case "value":
      return `value ${codec.name}`;
    case "items":
      return `${codec.name} of ${inner(layout.of)}`;
    case "fields":
      return `{ ${each(layout.of)} }`;
    case "variants":
      return `${layout.tag ?? "key"} { ${each(membersOf(layout))} }`;
    case "as":
      return inner(layout.of());
  }
};

/** Of each type of event, by its name. */
export const eventShapes = (): Readonly<Record<string, string>> => {
  const layout = layoutOf(EventCodec);
  if (layout?.type !== "variants") throw new Error("the codec of events is no union");
  const shapes = membersOf(layout).map(([type, codec]) => [type, shapeIn(codec, [])] as const);
  return Object.fromEntries(shapes.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** The parts of `name: shape, name: shape`, which hold braces within themselves. */
const partsOf = (text: string): ReadonlyMap<string, string> => {
  const parts = new Map<string, string>();
  let depth = 0;
  let from = 0;
  const keep = (to: number): void => {
    const part = /^(?<name>[\w.]+): (?<shape>.*)$/s.exec(text.slice(from, to))?.groups;
    if (part !== undefined) parts.set(part["name"] ?? "", part["shape"] ?? "");
    from = to + 2;
  };
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "{") depth += 1;
    if (text[i] === "}") depth -= 1;
    if (depth === 0 && text[i] === "," && /^, [\w.]+: /.test(text.slice(i))) keep(i);
  }
  keep(text.length);
  return parts;
};

const split = (
  shape: string,
): { readonly outside: string; readonly parts: ReadonlyMap<string, string> } | undefined => {
  const [from, to] = [shape.indexOf("{ "), shape.lastIndexOf(" }")];
  if (from < 0 || to < 0) return undefined;
  return { outside: shape.slice(0, from) + shape.slice(to), parts: partsOf(shape.slice(from + 2, to)) };
};

const wordsIn = (text: string): readonly string[] => [...text.matchAll(/`[^`]*`/g)].map(([word]) => word);
const nameIn = (text: string): string => text.replace(/ (?:one of )?`.*$/s, "");

/** A leaf still takes all that it took. */
const takesAll = (was: string, is: string): boolean =>
  nameIn(was) === nameIn(is) && wordsIn(was).every((word) => wordsIn(is).includes(word));

/** Returns what a shape had, and has no longer. A field, a member or a word that was added is no loss. */
export const lostIn = (place: string, was: string, is: string): readonly string[] => {
  const [before, after] = [split(was), split(is)];
  if (before === undefined || after === undefined || before.outside !== after.outside)
    return before === undefined && after === undefined && takesAll(was, is) ? [] : [`${place}: was ${was}, is ${is}`];
  return [...before.parts].flatMap(([name, shape]) =>
    lostIn(`${place}.${name}`, shape, after.parts.get(name) ?? "nothing"),
  );
};

const itemOf = (shape: string): string | undefined => / of (?<item>.*)$/s.exec(shape)?.groups?.["item"];

/** The member of a union that an object is, by its tag: `type { done: …, pending: … }`. */
const memberOf = (outside: string, parts: ReadonlyMap<string, string>, json: object): string | undefined => {
  const tag = outside.trim().replace(/[{} ].*$/s, "");
  return tag === "" ? undefined : parts.get(String((json as { readonly [field: string]: unknown })[tag]));
};

/** The places of a record that its shape does not have. Values are opaque. */
export const extraIn = (place: string, shape: string, json: unknown): readonly string[] => {
  if (shape.startsWith("value ") || typeof json !== "object" || json === null) return [];
  const item = /^a (?:sequence|map) of /.test(shape) ? itemOf(shape) : undefined;
  if (item !== undefined) return Object.values(json).flatMap((one) => extraIn(place, item, one));
  const known = split(shape);
  if (known === undefined) return [];
  const member = memberOf(known.outside, known.parts, json);
  if (member !== undefined) {
    const tag = known.outside.trim().replace(/[{} ].*$/s, "");
    return extraIn(place, member, Object.fromEntries(Object.entries(json).filter(([field]) => field !== tag)));
  }
  return Object.entries(json).flatMap(([field, part]) => {
    const of = known.parts.get(field);
    return of === undefined ? [`${place}.${field}`] : extraIn(`${place}.${field}`, of, part);
  });
};
