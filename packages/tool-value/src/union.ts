/**
 * The three kinds of unions in the wire format:
 *
 *   oneOf      a string from a list                "timeout"
 *   tagged     a record with a tag among its fields {"type": "finish", "value": 1}
 *   external   a map with one key, or a string     {"pointer": "/a"} or "payload"
 *
 * String, tag or key select the member. No member is tried in vain, and errors come from the selected one.
 */
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type Codec, codecFrom, isMap, part, refuse, wrongType } from "./codec.ts";
import { laidOut } from "./layout.ts";
import { type Fields, type RecordOf, record } from "./record.ts";

const variants = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length === 1) return quoted[0] as string;
  return quoted.length === 2 ? quoted.join(" or ") : `one of ${quoted.join(", ")}`;
};

const unknownVariant = <A>(u: string, c: t.Context, names: readonly string[]): t.Validation<A> =>
  refuse(u, c, `unknown variant \`${u}\`, expected ${variants(names)}`);

/** One of a few strings. */
/* @__NO_SIDE_EFFECTS__ */
export const oneOf = <A extends string>(name: string, ...names: readonly A[]): Codec<A> => {
  const is = (u: unknown): u is A => names.includes(u as A);
  const codec = codecFrom<A>(name, is, (u, c) => {
    if (is(u)) return E.right(u);
    return typeof u === "string" ? unknownVariant(u, c, names) : wrongType(u, c, name);
  });
  return laidOut(codec, { type: "names", of: names });
};

type Members<A, Tag extends keyof A> = {
  readonly [T in A[Tag] & string]: Fields<Omit<Extract<A, Record<Tag, T>>, Tag>>;
};

/** A union of records, selected by the string in the field `tag`, which is written first. */
/* @__NO_SIDE_EFFECTS__ */
export const tagged = <A extends object, Tag extends keyof A & string>(
  name: string,
  tag: Tag,
  members: Members<A, Tag>,
): Codec<A> => {
  const codecs = new Map<unknown, Codec<object>>(
    Object.entries<Fields<object>>(members).map(([variant, fields]) => [
      variant,
      record<object>(`${name} \`${variant}\``, fields, [tag, variant]),
    ]),
  );
  const names = Object.keys(members);
  const anyTag = oneOf(`a ${name} ${tag}`, ...names);
  const memberOf = (u: unknown): Codec<object> | undefined => (isMap(u) ? codecs.get(u[tag]) : undefined);
  const codec = codecFrom<A>(
    name,
    (u): u is A => memberOf(u)?.is(u) ?? false,
    (u, c) => {
      if (!isMap(u)) return wrongType(u, c, name);
      const variant = u[tag];
      if (variant === undefined) return refuse(u, c, `missing field \`${tag}\``);
      const member = codecs.get(variant);
      return (member === undefined ? part(anyTag, variant, c, tag) : member.validate(u, c)) as t.Validation<A>;
    },
    (a) => memberOf(a)?.encode(a),
  );
  return laidOut(codec, { type: "variants", tag, of: codecs });
};

/** The union of records that members make. */
export type UnionOf<Tag extends string, M> = {
  [V in keyof M]: RecordOf<M[V]> & { readonly [K in Tag]: V };
}[keyof M];

/** Makes the codec of a union of records whose types follow from their fields (`TypeOf`). */
/* @__NO_SIDE_EFFECTS__ */
export const structs = <Tag extends string, M extends object>(
  name: string,
  tag: Tag,
  members: M,
): Codec<UnionOf<Tag, M>> =>
  tagged<object, never>(name, tag as never, members as never) as unknown as Codec<UnionOf<Tag, M>>;

type Variants<A> = A extends string ? never : keyof A;

const onlyKey = (u: unknown): string | undefined => {
  const keys = isMap(u) ? Object.keys(u) : [];
  return keys.length === 1 ? keys[0] : undefined;
};

/** A union of maps, selected by their only key, and of some strings: `"all"`, `{"only": 1}`. */
/* @__NO_SIDE_EFFECTS__ */
export const external = <A>(
  name: string,
  units: readonly (A & string)[],
  members: { readonly [K in Variants<A> & string]: Codec<A extends Record<K, infer V> ? V : never> },
): Codec<A> => {
  const names = [...units, ...Object.keys(members)];
  const codecs = new Map<string, Codec<unknown>>(Object.entries(members));
  const codec = codecFrom<A>(
    name,
    (u): u is A => {
      const key = onlyKey(u);
      if (key === undefined) return units.includes(u as A & string);
      return codecs.get(key)?.is((u as Record<string, unknown>)[key]) ?? false;
    },
    (u, c) => {
      if (typeof u === "string") return units.includes(u as A & string) ? E.right(u as A) : unknownVariant(u, c, names);
      const key = onlyKey(u);
      if (key === undefined) return wrongType(u, c, `${name}: a map with one key`);
      const member = codecs.get(key);
      if (member === undefined) return unknownVariant(key, c, names);
      const value = part(member, (u as Record<string, unknown>)[key], c, key);
      return E.isLeft(value) ? value : E.right({ [key]: value.right } as A);
    },
    (a) => {
      const key = onlyKey(a);
      return key === undefined ? a : { [key]: codecs.get(key)?.encode((a as Record<string, unknown>)[key]) };
    },
  );
  return laidOut(codec, { type: "variants", of: codecs, units });
};
