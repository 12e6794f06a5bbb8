/** Unions of the wire: told apart by a text, by a tag, or by their only key. The tag picks the member; none is tried. */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type Codec, type Fields, isMap, part, record, refuse, wrongType } from "./codec.ts";
import { laidOut } from "./layout.ts";
import { codecFrom } from "./type.ts";

const variants = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length === 1) return quoted[0] as string;
  return quoted.length === 2 ? quoted.join(" or ") : `one of ${quoted.join(", ")}`;
};

export const unknownVariant = <A>(u: string, c: t.Context, names: readonly string[]): t.Validation<A> =>
  refuse(u, c, `unknown variant \`${u}\`, expected ${variants(names)}`);

/** One of a few texts. */
export const oneOf = <A extends string>(name: string, ...names: readonly A[]): Codec<A> => {
  const is = (u: unknown): u is A => names.includes(u as A);
  return codecFrom<A>(name, is, (u, c) => {
    if (is(u)) return E.right(u);
    return typeof u === "string" ? unknownVariant(u, c, names) : wrongType(u, c, name);
  });
};

type Member<A, Tag extends keyof A, K extends PropertyKey = A[Tag] & string> = {
  readonly [T in A[Tag] & K & string]: Fields<Omit<Extract<A, Record<Tag, T>>, Tag>>;
};

/**
 * A union of records told apart by the text under `tag`, which is written first. `others` gives the fields of the rest of
 * its members when the first of them is seen.
 */
export const tagged = <A extends object, Tag extends keyof A & string, K extends PropertyKey = A[Tag] & string>(
  name: string,
  tag: Tag,
  members: Member<A, Tag, K>,
  ...[others]: [A[Tag] & string] extends [K] ? [] : [others: () => Member<A, Tag, Exclude<A[Tag] & string, K>>]
): Codec<A> => {
  const codecs = new Map<string, Codec<object>>();
  const made = (variant: string, fields: Fields<object>): Codec<object> => {
    const codec = record<object>(`${name} \`${variant}\``, fields, [tag, variant]);
    codecs.set(variant, codec);
    return codec;
  };
  for (const [variant, fields] of Object.entries<Fields<object>>(members)) made(variant, fields);
  const codecOf = (variant: unknown): Codec<object> | undefined => {
    const known = codecs.get(variant as string);
    if (known !== undefined || others === undefined || typeof variant !== "string") return known;
    const rest: { readonly [variant: string]: Fields<object> } = others();
    return Object.hasOwn(rest, variant) ? made(variant, rest[variant] as Fields<object>) : undefined;
  };
  const names = (): readonly string[] => [...new Set([members, others?.() ?? {}].flatMap(Object.keys))];
  const memberOf = (u: unknown): Codec<object> | undefined => (isMap(u) ? codecOf(u[tag]) : undefined);
  const codec = codecFrom<A>(
    name,
    (u): u is A => memberOf(u)?.is(u) ?? false,
    (u, c) => {
      if (!isMap(u)) return wrongType(u, c, name);
      const variant = u[tag];
      if (variant === undefined) return refuse(u, c, `missing field \`${tag}\``);
      const member = codecOf(variant);
      if (member === undefined) return part(oneOf(`a ${name} ${tag}`, ...names()), variant, c, tag) as t.Validation<A>;
      return member.validate(u, c) as t.Validation<A>;
    },
    (a) => memberOf(a)?.encode(a),
  );
  return laidOut(codec, { type: "variants", tag, names, of: codecOf });
};
