/** Unions of the wire: told apart by a text, by a tag, or by their only key. The tag picks the member; none is tried. */
import * as E from "fp-ts/lib/Either.js";
import * as t from "io-ts";
import { type Codec, type Fields, isMap, lazy, part, record, refuse, wrongType } from "./codec.ts";
import { laidOut, partsOf } from "./layout.ts";

const variants = (names: readonly string[]): string => {
  const quoted = names.map((name) => `\`${name}\``);
  if (quoted.length === 1) return quoted[0] as string;
  return quoted.length === 2 ? quoted.join(" or ") : `one of ${quoted.join(", ")}`;
};
const unknownVariant = <A>(u: string, c: t.Context, names: readonly string[]): t.Validation<A> =>
  refuse(u, c, `unknown variant \`${u}\`, expected ${variants(names)}`);

/** One of a few texts. */
export const oneOf = <A extends string>(name: string, ...names: readonly A[]): Codec<A> => {
  const is = (u: unknown): u is A => names.includes(u as A);
  return new t.Type<A, unknown>(
    name,
    is,
    (u, c) => {
      if (is(u)) return t.success(u);
      return typeof u === "string" ? unknownVariant(u, c, names) : wrongType(u, c, name);
    },
    t.identity,
  );
};

type Variants<A> = A extends string ? never : keyof A;

const onlyKey = (u: unknown): string | undefined => {
  const keys = isMap(u) ? Object.keys(u) : [];
  return keys.length === 1 ? keys[0] : undefined;
};

/** A union told apart by its only key, or by being one of a few texts: `"all"`, `{"only": 1}`. */
export const external = <A>(
  name: string,
  units: readonly (A & string)[],
  members: { readonly [K in Variants<A> & string]: Codec<A extends Record<K, infer V> ? V : never> },
): Codec<A> => {
  const names = [...units, ...Object.keys(members)];
  const codecs = new Map<string, Codec<unknown>>(Object.entries(members));
  const codec = new t.Type<A, unknown>(
    name,
    (u): u is A => {
      const key = onlyKey(u);
      if (key === undefined) return units.includes(u as A & string);
      return codecs.get(key)?.is((u as Record<string, unknown>)[key]) ?? false;
    },
    (u, c) => {
      if (typeof u === "string")
        return units.includes(u as A & string) ? t.success(u as A) : unknownVariant(u, c, names);
      const key = onlyKey(u);
      if (key === undefined) return wrongType(u, c, `${name}: a map with one key`);
      const member = codecs.get(key);
      if (member === undefined) return unknownVariant(key, c, names);
      return E.map((value: unknown) => ({ [key]: value }) as A)(
        part(member, (u as Record<string, unknown>)[key], c, key),
      );
    },
    (a) => {
      const key = onlyKey(a);
      return key === undefined ? a : { [key]: codecs.get(key)?.encode((a as Record<string, unknown>)[key]) };
    },
  );
  return laidOut(codec, { type: "variants", of: partsOf(codecs) });
};

/** The fields of one member, or what gives them when the first such record is seen. */
type FieldsOrLater<A> = Fields<A> | (() => Fields<A>);
type Member<A, Tag extends keyof A> = {
  readonly [K in A[Tag] & string]: FieldsOrLater<Omit<Extract<A, Record<Tag, K>>, Tag>>;
};

const memberCodec = (name: string, fields: FieldsOrLater<object>, tag: readonly [string, string]): Codec<object> => {
  if (typeof fields !== "function") return record<object>(name, fields, tag);
  let made: Codec<object> | undefined;
  return lazy(name, () => (made ??= record<object>(name, fields(), tag)));
};

/** A union of records told apart by the text under `tag`, which is written first. */
export const tagged = <A extends object, Tag extends keyof A & string>(
  name: string,
  tag: Tag,
  members: Member<A, Tag>,
): Codec<A> => {
  const names = Object.keys(members);
  const variantOf = oneOf(`a ${name} ${tag}`, ...names);
  const codecs = new Map(
    Object.entries(members).map(([key, fields]) => [
      key,
      memberCodec(`${name} \`${key}\``, fields as FieldsOrLater<object>, [tag, key]),
    ]),
  );
  const memberOf = (u: unknown): Codec<object> | undefined => (isMap(u) ? codecs.get(u[tag] as string) : undefined);
  const codec = new t.Type<A, unknown>(
    name,
    (u): u is A => memberOf(u)?.is(u) ?? false,
    (u, c) => {
      if (!isMap(u)) return wrongType(u, c, name);
      const variant = u[tag];
      if (variant === undefined) return refuse(u, c, `missing field \`${tag}\``);
      const member = codecs.get(variant as string);
      if (member === undefined) return part(variantOf, variant, c, tag) as t.Validation<A>;
      return member.validate(u, c) as t.Validation<A>;
    },
    (a) => memberOf(a)?.encode(a),
  );
  return laidOut(codec, { type: "variants", tag, of: partsOf(codecs) });
};
