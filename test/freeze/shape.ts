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
  if (layout === undefined) return leaf(codec);
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
